"""A selection of investment and its change, 3 L.P.R.A. § 786-7(b)(1), (2): determined, and written with its receipt."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from retiro.ledger import savings
from retiro.ledger.board import BoardBook
from retiro.ledger.credits import known
from retiro.ledger.evidence import Evidence
from retiro.ledger.keys import BusinessKey, KeyKind
from retiro.ledger.lines import Line, LineKind
from retiro.ledger.passbooks import Decision, Passbooks
from retiro.ledger.savings import Origin
from retiro.registry.participants import Profile
from retiro.rules.calendar import fiscal_year, puerto_rico_date
from retiro.rules.judiciary_hybrid import SECTION as SECTION_242B
from retiro.rules.judiciary_hybrid import SYSTEM
from retiro.rules.refusals import Refusal, RefusalCode, invalid_input
from retiro.rules.savings_accounts import (
    SECTION,
    InvestmentSelectionGiven,
    check_on_calendar,
    investment_selection,
)

EVIDENCE = "selection"


@dataclass(frozen=True)
class Selections:
    """Takes selections: the first one is in force at once, a change from the next fiscal year on."""

    passbooks: Passbooks
    board: BoardBook

    def select(self, profile: Profile, requested_on: date, selection: dict[str, int], by: str) -> Line:
        """The selection's line. The same request again is the first answer.

        Raises `Refusal`: `invalid_input` (a date off the calendar or before the enrolment), what `investment_selection`
        refuses, and `needs_decision` where it would reach into a posted semester.
        """
        participant_id = profile.participant_id
        if profile.fund == SYSTEM:
            raise invalid_input(SECTION_242B, "selection", "not_of_program")
        check_on_calendar(requested_on, today=puerto_rico_date(self.passbooks.clock()), field="requested_on")
        if requested_on < profile.enrolled_on:
            raise invalid_input(f"{SECTION}(b)", "requested_on", "before_enrolment")
        options_in_force = self.board.adopted(profile.fund).options_in_force(requested_on)

        def decide(last: Line | None) -> Decision:
            last = known(last, participant_id)
            history = self.passbooks.store.through(last)
            found = investment_selection(
                InvestmentSelectionGiven(
                    requested_on=requested_on,
                    selection=selection,
                    options_in_force=options_in_force,
                    initial="selections" not in last.state,
                    earlier_changes=earlier_changes(history),
                )
            )
            if savings.is_late(last, found.effective_on):
                raise Refusal(
                    RefusalCode.NEEDS_DECISION,
                    f"{SECTION}(b)",
                    field="requested_on",
                    reason_en=f"a selection from {found.effective_on} on would change a semester that is posted",
                    reason_es=f"una selección desde {found.effective_on} cambiaría un semestre ya acreditado",
                )
            evidence = Evidence(
                EVIDENCE, f"{participant_id}/{last.sequence + 1:08d}", found.receipt.model_dump(mode="json")
            )
            draft = savings.selection(
                last,
                selection,
                requested_on=requested_on,
                effective_on=found.effective_on,
                origin=Origin(by, f"{EVIDENCE}/{evidence.id}"),
            )
            return Decision([draft], [evidence])

        asked = ",".join(f"{option}:{percent}" for option, percent in sorted(selection.items()))
        return self.passbooks.append(
            participant_id,
            decide,
            key=BusinessKey(KeyKind.SELECTION, f"{participant_id} {requested_on} {asked}"),
            content={"requested_on": requested_on.isoformat(), "selection": selection},
        ).lines[0]


def earlier_changes(history: Sequence[Line]) -> list[date]:
    """The request dates of the changes so far, read from the whole passbook; the first selection is no change."""
    changes = []
    selected = False
    for line in history:
        if line.kind is LineKind.SELECTION and selected:
            changes.append(date.fromisoformat(str(line.facts["requested_on"])))
        selected = selected or "selections" in line.state
    return changes


def fiscal_year_of(line: Line) -> str:
    """The fiscal year from which the selection of this line holds."""
    return f"FY{fiscal_year(line.effective_on)}"
