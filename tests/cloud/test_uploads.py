"""A remittance file by the presigned link, through the real gateway, bucket and state machine."""

import urllib3

from retiro.ledger.lines import LineKind
from tests.cloud.waiting import until

ASKED = {"reference": "U-2024-08", "employer_id": "E-001", "period": "2024-08", "format": "csv", "upload": True}
PLACE = "/payroll-remittances/E-001_U-2024-08"
HEADING = "participant_id,kind,amount,salary,name"


def put(link, *lines):
    """Upload these lines as a spreadsheet of Windows writes them: a byte-order mark first, CRLF at each end."""
    data = b"\xef\xbb\xbf" + "".join(f"{line}\r\n" for line in lines).encode()
    answer = urllib3.request(link["method"], link["url"], body=data, timeout=30, retries=False)
    assert answer.status == 200, answer.data


def validated(clerk, key):
    """How the remittance stands once what was uploaded last is validated."""
    clerk.post(f"{PLACE}/validation", key=key)

    def look():
        seen = clerk.get(PLACE)
        assert seen["status"] != "failed", seen
        return seen if seen["status"] != "validating" else None

    return until(look, "the validation's end")


def test_a_file_by_its_link_is_refused_with_all_its_errors_and_credited_once_it_is_right(office, behind):
    """214.29 + 100.00 + 50.00 = 364.29, credited on the deposit's value date; three lines an invocation."""
    ids = [f"P-106{number:03d}" for number in range(4)]
    office.enrol(ids, on="2024-07-01")
    clerk, treasurer = office.people.clerks["E-001"], office.people.treasurer
    offered = clerk.post("/payroll-remittances", ASKED)
    assert (offered["status"], offered["place"]) == ("awaiting_upload", PLACE)

    put(
        offered["upload"],
        HEADING,
        f"{ids[0]},contribution,214.29,2589.55,=cmd|'/C calc'!A0",
        f'{ids[1]},contribution,"1.234,56",,',
        "P-999999,contribution,50.00,,",
        "total,3,264.28,,",
    )
    refused = validated(clerk, "first")
    assert (refused["status"], refused["error_count"]) == ("refused", 2)
    errors = clerk.get(f"{PLACE}/errors")["items"]
    assert [(one["line"], one["column"], one["code"]) for one in errors] == [
        (3, "amount", "amount_form"),
        (4, "participant_id", "unknown_participant"),
    ]
    assert [len(behind.lines(one)) for one in ids] == [2] * 4

    put(
        offered["upload"],
        HEADING,
        f"{ids[0]},contribution,214.29,2589.55,=cmd|'/C calc'!A0",
        f'{ids[1]},contribution,100.00,,"García, José"',
        f"{ids[2]},contribution,50.00,,",
        "total,3,364.29,,",
    )
    taken = validated(clerk, "second")
    assert (taken["status"], taken["count"], taken["total"], taken["error_count"]) == (
        "awaiting_deposit", 3, "364.29", 0,
    )  # fmt: skip
    deposit = {"reference": "D-U-2024-08", "amount": "364.29", "value_date": "2024-09-10"}
    treasurer.post(f"{PLACE}/deposit", deposit)
    until(lambda: treasurer.get(PLACE)["status"] == "closed", "the remittance's credit")

    credited = [behind.lines(one)[2:] for one in ids]
    assert [[(line.kind, line.savings_cents) for line in lines] for lines in credited] == [
        [(LineKind.CONTRIBUTION, 21_429)],
        [(LineKind.CONTRIBUTION, 10_000)],
        [(LineKind.CONTRIBUTION, 5_000)],
        [],
    ]
    assert {line.effective_on.isoformat() for lines in credited for line in lines} == {"2024-09-10"}
    # The names that a spreadsheet might take for formulas come back as texts.
    lines_csv = office.send("GET", f"{PLACE}/lines/csv", token=office.token("employer"))
    assert lines_csv.status == 200, lines_csv.text
    assert "'=cmd|'/C calc'!A0" in lines_csv.text
