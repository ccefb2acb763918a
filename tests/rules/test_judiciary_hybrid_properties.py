"""4 L.P.R.A. § 242b: what holds of every annuity and every death, whatever the figures."""

from datetime import date, timedelta
from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from retiro.rules.calendar import add_years, format_month, last_day_of_month
from retiro.rules.determinations import determine
from retiro.rules.judiciary_hybrid import FactorTable, factor_at, format_age, payments_through_cents
from retiro.rules.money import format_cents

cents = st.integers(0, 10_000_000)
days = st.dates(date(2014, 1, 1), date(2060, 12, 31))
dead = st.one_of(st.none(), st.dates(date(2020, 1, 1), date(2030, 12, 31)))
debts = st.lists(cents, max_size=3).map(
    lambda amounts: [{"name": f"debt {n}", "amount": format_cents(each)} for n, each in enumerate(amounts)]
)
settings = st.fixed_dictionaries(
    {
        "predeceased_share": st.sampled_from(["heirs", "accrue"]),
        "lump_sum_with_transfer_annuity": st.sampled_from(["pay", "hold", "none"]),
        "pensioner_debts": st.sampled_from(["collect", "hold"]),
    }
)


@st.composite
def people(draw, most=5, *, may_be_dead=True):
    """Some people with whole shares that total 100, or with none."""
    count = draw(st.integers(0, most))
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=max(count - 1, 0), max_size=max(count - 1, 0))))
    shares = [end - start for start, end in zip([0, *cuts], [*cuts, 100], strict=True)]
    equal = draw(st.booleans())
    rows = [
        {"name": f"{number}"} | ({} if equal else {"share_percent": str(shares[number])}) for number in range(count)
    ]
    if may_be_dead:
        rows = [row | ({"died_on": str(day)} if (day := draw(dead)) else {}) for row in rows]
    return rows


@st.composite
def claims(draw):
    return {
        "death_date": "2025-04-10",
        "debts": draw(debts),
        "designation": {"filed_on": "2020-01-05", "recognized": draw(st.booleans()), "beneficiaries": draw(people())},
        "heirs": [row | {"name": f"heir {row['name']}"} for row in draw(people(may_be_dead=False))],
        "settings": draw(settings),
    }


def must_foot(claim, result, gross, net):
    """Net and debts make the gross, collected and uncollected the debts, and the payees the net."""
    owed = sum(int(debt["amount"].replace(".", "")) for debt in claim["debts"])
    assert gross >= 0
    assert net >= 0
    assert net + result.debts_collected == gross
    assert sum(debt.collected for debt in result.debts) == result.debts_collected
    assert [debt.name for debt in result.debts] == [debt["name"] for debt in claim["debts"]]
    assert result.debts_collected + result.uncollected_debt == owed
    assert sum(payee.amount for payee in result.payees) == net
    assert all(payee.amount >= 0 for payee in result.payees)
    assert bool(result.payees) == (net > 0)


@given(claims(), cents, st.integers(-1_000_000, 1_000_000))
def test_a_refund_foots_to_the_cent_and_is_never_negative(claim, contributions, posted_yield):
    facts = claim | {"contributions": format_cents(contributions), "posted_yield": format_cents(posted_yield)}
    result = determine("active_death_refund", facts)
    assert result.gross_refund == max(0, contributions + posted_yield)
    must_foot(claim, result, result.gross_refund, result.net_refund)


@given(claims(), cents, cents, st.booleans())
def test_a_pensioners_benefit_foots_to_the_cent_and_is_never_negative(claim, balance, paid, due):
    facts = claim | {
        "retirement_date": "2024-01-01",
        "balance_at_retirement": format_cents(balance),
        "annuity_payments_total": format_cents(paid),
        "transfer_annuity_due": due,
    }
    result = determine("pensioner_death_benefit", facts)
    must_foot(claim, result, result.gross_benefit, result.net_benefit)
    assert result.gross_benefit in {0, max(0, balance - paid)}
    if result.held:
        assert {payee.status for payee in result.payees} == {"held"}


@given(claims(), cents)
def test_payees_are_the_living_in_order_and_the_heirs_come_last(claim, contributions):
    assume(contributions > 0)
    facts = claim | {"contributions": format_cents(contributions), "posted_yield": "0.00", "debts": []}
    names = [payee.name for payee in determine("active_death_refund", facts).payees]
    rows = claim["designation"]["beneficiaries"] if claim["designation"]["recognized"] else []
    living = [row["name"] for row in rows if row.get("died_on", "9999") > "2025-04-10"]
    heirs = [row["name"] for row in claim["heirs"]] or ["heirs"]
    assert names in (living, heirs, living + heirs)


@given(claims(), cents)
def test_no_designee_is_a_cent_or_more_from_the_exact_share(claim, contributions):
    shares = [Fraction(row.get("share_percent", 1)) for row in claim["designation"]["beneficiaries"]]
    alive = [
        {key: value for key, value in row.items() if key != "died_on"} for row in claim["designation"]["beneficiaries"]
    ]
    assume(shares and contributions)
    facts = claim | {
        "contributions": format_cents(contributions),
        "posted_yield": "0.00",
        "debts": [],
        "designation": {"filed_on": "2020-01-05", "recognized": True, "beneficiaries": alive},
    }
    payees = determine("active_death_refund", facts).payees
    for payee, share in zip(payees, shares, strict=True):
        assert abs(payee.amount - contributions * share / sum(shares)) < 1


@given(days, st.integers(0, 40_000), st.integers(1, 1_000_000), st.sampled_from(["actual", "thirty"]))
def test_payments_through_the_month_of_death_are_neither_over_nor_under(retired, life_days, monthly, counted):
    death = retired + timedelta(days=31 + life_days)
    assume(death.year < 2200)
    result = determine(
        "annuity_payments",
        {
            "retirement_date": str(retired),
            "monthly_annuity": format_cents(monthly),
            "death_date": str(death),
            "paid_through": format_month(death),
            "settings": {"first_payment_days": counted},
        },
    )
    assert (result.overpayment, result.underpayment) == (0, 0)
    assert result.total_paid == result.total_payable
    # A first payment is at most a whole month, so that the total lies within a month of the whole ones.
    months = (death.year - retired.year) * 12 + death.month - retired.month
    assert months * monthly <= result.total_payable <= (months + 1) * monthly


@given(days, st.integers(0, 600), st.integers(0, 600), cents)
def test_what_is_over_or_under_is_the_months_between(retired, due_months, paid_months, monthly):
    def total(months):
        year, month = divmod(retired.year * 12 + retired.month - 1 + months, 12)
        return payments_through_cents(monthly, retired, date(year, month + 1, 1), "actual")

    assert total(due_months) - total(paid_months) == (due_months - paid_months) * monthly


@given(days, st.integers(0, 60))
def test_the_thirtieth_day_parts_the_routes_whatever_the_month(retired, offset):
    facts = {
        "retirement_date": str(retired),
        "death_date": str(retired + timedelta(days=offset)),
        "balance_at_retirement": "50000.00",
        "annuity_payments_total": "0.00",
        "transfer_annuity_due": False,
    }
    result = determine("pensioner_death_benefit", facts)
    assert result.annuity_void == (offset <= 30)
    assert result.route == ("active_service" if offset <= 30 else "pensioner")


@given(st.dates(date(1940, 1, 1), date(1980, 12, 31)), st.integers(-400, 400))
def test_the_gate_of_age_and_the_age_of_the_table_are_one(birth, offset):
    # dateutil #900: the gate said 65 and the table 64y11m.
    separated = add_years(birth, 65) + timedelta(days=offset)
    assume(separated >= date(2013, 12, 24))
    facts = {"birth_date": str(birth), "credited_service": {"years": 12}, "balance": "100000.00"}
    benefit = determine("separation_benefit", facts | {"separated_on": str(separated), "cause": "retirement"})
    assert (benefit.benefit == "life_annuity") == (offset >= 0)
    if offset >= 0:
        table = {"unit": "years", "points": {"65y0m": "13", "67y0m": "12"}}
        annuity = determine("life_annuity", facts | {"retirement_date": str(separated), "factor_table": table})
        assert annuity.age.years * 12 + annuity.age.months >= 65 * 12


@given(
    st.dictionaries(st.integers(60 * 12, 90 * 12), st.integers(60_000, 360_000), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
    st.integers(0, 10_000),
)
def test_a_table_gives_the_same_in_any_order_and_lies_between_its_neighbours(points, random, pick):
    ages = sorted(points)
    age = ages[0] + pick % (ages[-1] - ages[0] + 1)
    shuffled = random.sample(ages, len(ages))

    def table(order):
        texts = {format_age(each): f"{points[each] // 1000}.{points[each] % 1000:03d}" for each in order}
        return FactorTable.model_validate({"unit": "months", "points": texts})

    factor = factor_at(table(ages), age)
    assert factor == factor_at(table(shuffled), age)
    below = max(each for each in ages if each <= age)
    above = min(each for each in ages if each >= age)
    low, high = sorted((Fraction(points[below], 1000), Fraction(points[above], 1000)))
    assert low <= factor <= high


@given(days, st.sampled_from(["actual", "thirty"]))
def test_a_first_payment_is_a_part_of_a_month_never_none_and_never_more(retired, counted):
    facts = {
        "retirement_date": str(retired),
        "monthly_annuity": "1000.00",
        "paid_through": format_month(retired),
        "settings": {"first_payment_days": counted},
    }
    paid = determine("annuity_payments", facts).total_paid
    assert 3226 <= paid <= 100_000  # at the least one day of thirty-one: 1000.00/31 = 32.258
    if retired.day == 1:
        assert paid == 100_000
    if counted == "actual" and retired.day == last_day_of_month(retired.year, retired.month):
        assert paid <= 3572  # one day of twenty-eight: 1000.00/28 = 35.714
