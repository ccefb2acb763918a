"""Each statement of a rebuild is what `retiro determine semester_yield` finds for the same facts, to the cent."""

import csv
from datetime import date

import pytest
from click.testing import CliRunner

from cli.main import main
from retiro.rules.calendar import Semester
from retiro.rules.determinations import determine

SETTINGS = {
    "defaults": {},
    "other settings": {
        "average_balance_method": "month_mid",
        "cmt_semester_conversion": "geometric",
        "portfolio_fee_treatment": "fees_after_share",
        "negative_yield": "floor_at_zero",
    },
    "starts, unhalved": {"average_balance_method": "month_start", "cmt_semester_conversion": "unhalved"},
}
SETTINGS_FROM = "2004-07-01"


def rows(place):
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def selection_on(day, requests, options):
    """The first is in force from its day, a change from the July after. The sample has one change at most."""
    in_force = None
    for number, request in enumerate(requests):
        asked_on = date.fromisoformat(request["requested_on"])
        july = date(asked_on.year + (asked_on.month > 6), 7, 1)
        if (asked_on if number == 0 else july) <= day:
            in_force = {option: int(request[option]) for option in options}
    return in_force


def option_yields(yields, semester, options):
    """The figures of a semester in the form that the determination takes."""
    figures = {}
    for row in yields:
        if row["option"] == "fixed_income" and row["period"] in semester.months:
            figures.setdefault("fixed_income", {"monthly_percent": []})["monthly_percent"].append(row["value"])
        elif row["period"] == str(semester):
            figures.setdefault(row["option"], {})[row["figure"]] = row["value"]
    return {option: figures[option] for option in options}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_every_statement_is_what_the_determination_finds(tmp_path, settings):
    folder = tmp_path / "history"
    runner = CliRunner()
    assert runner.invoke(main, ["rebuild", "sample", str(folder), "--participants", "15"]).exit_code == 0
    lines = [f"{name},{value},{SETTINGS_FROM}\n" for name, value in settings.items()]
    (folder / "settings.csv").write_text("setting,value,in_force_from\n" + "".join(lines))
    assert runner.invoke(main, ["rebuild", str(folder)]).exit_code == 0

    yields = rows(folder / "yields.csv")
    selections = rows(folder / "selections.csv")
    options = list(selections[0])[2:]
    movements = [
        {"participant_id": row["participant_id"], "date": row["credited_on"], "amount": row["amount"]}
        for row in rows(folder / "transfers.csv")
    ] + [
        {"participant_id": row["participant_id"], "date": row["remitted_on"], "amount": row["amount"]}
        for row in rows(folder / "contributions.csv")
    ]
    statements = rows(folder / "statements.csv")
    enrolled = {row["participant_id"]: row["enrolled_on"] for row in rows(folder / "participants.csv")}
    semesters = dict.fromkeys(enrolled, 0)
    opening = dict.fromkeys(enrolled, "0.00")
    for statement in statements:
        one = statement["participant_id"]
        semester = Semester.parse(statement["semester"])
        requests = [row for row in selections if row["participant_id"] == one]
        given = {
            "semester": str(semester),
            "opening_balance": opening[one],
            "movements": [
                {"date": row["date"], "amount": row["amount"]}
                for row in movements
                if row["participant_id"] == one and str(semester.starts_on) <= row["date"] <= str(semester.ends_on)
            ],
            "selection": selection_on(semester.ends_on, requests, options),
            "option_yields": option_yields(yields, semester, options),
            "settings": settings if str(semester.ends_on) >= SETTINGS_FROM else {},
        }
        found = determine("semester_yield", given).model_dump(mode="json")
        assert statement["opening_balance"] == opening[one]
        for column in ("average_monthly_balance", "semester_percent", "yield", "closing_balance"):
            assert statement[column] == found[column], (one, str(semester), column)
        opening[one] = statement["closing_balance"]
        semesters[one] += 1

    # every semester from that of the enrolment through FY2013-S2, which is half a year number 2 × 2013 + 1
    first = {one: Semester.containing(date.fromisoformat(day)) for one, day in enrolled.items()}
    assert semesters == {one: 2 * (2013 - each.fiscal_year) + (2 - each.half) + 1 for one, each in first.items()}
