"""What the demonstration shows: for the office in English, and what a member reads in either language."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from cli.audit import show_audit, show_trial_balance
from retiro.ledger.trial_balance import TrialBalance

_NAMED_MAX = 8

_WORDS = {
    "en": {
        "statement": "Statement of {participant_id} for {semester}",
        "opening_balance": "Opening balance",
        "credits": "Credits",
        "average_monthly_balance": "Average monthly balance",
        "semester_percent": "Percent of the semester",
        "yield": "Yield",
        "closing_balance": "Closing balance",
        "yield_date": "Yield date",
        "citations": "By",
    },
    "es": {
        "statement": "Estado de cuenta de {participant_id}, {semester}",
        "opening_balance": "Balance inicial",
        "credits": "Créditos",
        "average_monthly_balance": "Balance mensual promedio",
        "semester_percent": "Por ciento del semestre",
        "yield": "Rendimiento",
        "closing_balance": "Balance final",
        "yield_date": "Fecha del rendimiento",
        "citations": "Según",
    },
}


def run(console: Console, standing: Mapping[str, Any]) -> None:
    """The run: who prepared and approved it, and what came of it."""
    state = standing["run"]
    console.print(
        f"\n{standing['semester']} is {standing['status']}: prepared by {state['prepared_by']}, approved by "
        f"{state['approved_by']} by its hash {state['hash'][:12]}…\n"
        f"{state['result']['posted']} of {state['totals']['participants']} participants, "
        f"{_grouped(state['result']['total_yield'])} in all."
    )


def judiciary(console: Console, told: Mapping[str, Any]) -> None:
    """The judges: what each is paid a month, what each payroll paid, and what each death paid to whom."""
    console.print("\n4 L.P.R.A. § 242b: three judges")
    for one in told["annuities"]:
        console.print(
            f"  {one['participant_id']}: {_grouped(one['balance'])} ÷ {one['factor']} years at {one['age']}, "
            f"{one['monthly_annuity']} a month, the first {one['first_payment']}"
        )
    for one in told["payrolls"]:
        withheld = ", ".join(f"{count} {code}" for code, count in one["exceptions"].items())
        console.print(f"  {one['period']}: {one['posted']} paid, {one['net_total']} net. {withheld}".rstrip())
    for one in told["deaths"]:
        payees = ", ".join(f"{payee['name']} {_grouped(payee['amount'])}" for payee in one["payees"])
        console.print(
            f"  {one['participant_id']} died on {one['death_date']}, {one['route']}: {_grouped(one['gross'])} less "
            f"{_grouped(one['debts_collected'])}; {payees}"
        )


def exceptions(console: Console, found: Sequence[Mapping[str, Any]]) -> None:
    """Whose yield isn't posted, by reason."""
    counts = Counter(one["code"] for one in found)
    console.print(
        f"\n{len(found)} exceptions: {', '.join(f'{count} {code}' for code, count in sorted(counts.items()))}"
    )
    for one in found[:_NAMED_MAX]:
        console.print(f"  {one['participant_id']}: {one['detail']}")


def statements(console: Console, shown: Sequence[Mapping[str, Any]], language: str) -> None:
    """What these members read."""
    words = _WORDS[language]
    for statement in shown:
        grid = Grid(title=words["statement"].format(**statement), title_justify="left", show_header=False)
        grid.add_column()
        grid.add_column(justify="right")
        grid.add_row(words["opening_balance"], _grouped(statement["opening_balance"]))
        credited = sum((Decimal(one["amount"]) for one in statement["credits"]), Decimal("0.00"))
        grid.add_row(f"{words['credits']} ({len(statement['credits'])})", _grouped(str(credited)))
        grid.add_row(words["average_monthly_balance"], _grouped(statement["average_monthly_balance"]))
        for option, percent in statement["option_percents"].items():
            grid.add_row(f"  {option}", f"{percent} %")
        grid.add_row(words["semester_percent"], f"{statement['semester_percent']} %")
        grid.add_row(words["yield"], _grouped(statement["yield"]))
        grid.add_row(words["closing_balance"], _grouped(statement["closing_balance"]))
        grid.add_row(words["yield_date"], statement["yield_date"])
        grid.add_row(words["citations"], "\n".join(statement["citations"]))
        console.print(grid)


def plan(console: Console, told: Mapping[str, Any]) -> None:
    """A payment plan of § 830q, from its cost to the discounts on a survivors' pension."""
    installments, discounts = told["installments"], told["discounts"]
    console.print(
        f"\nPlan {told['plan_id']}: principal {_grouped(told['principal'])}, interest {_grouped(told['interest'])} in "
        f"{installments['count']} installments of {installments['amount']}."
    )
    for order in told["orders"]:
        console.print(f"  {order['month']} {order['payer']}: {order['installment']} and arrears of {order['arrears']}")
    console.print(
        f"  paid {_grouped(told['paid'])}; {_grouped(told['balance'])} is left, in discounts of {discounts['amount']}."
    )


def trial_balance(console: Console, balance: TrialBalance) -> None:
    """By fund and account."""
    show_trial_balance(console, balance)


def audit(console: Console, answer: Mapping[str, Any]) -> None:
    """The audit's answer."""
    console.print("\nAudit of every passbook, recomputed from its first line:")
    show_audit(console, dict(answer))


def second_time(console: Console, lines_before: int, lines_after: int) -> None:
    """What a repeated demonstration has posted."""
    console.print(
        f"\nAll of this was done before, and was sent again: {lines_before} lines before, {lines_after} after. "
        + ("Nothing was posted twice." if lines_before == lines_after else "Something was posted twice.")
    )


def _grouped(amount: str) -> str:
    return f"{Decimal(amount):,}"
