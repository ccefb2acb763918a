"""What a million postings cost, and what a year does: from measured units and dated list prices, no time is taken."""

from bench.measures import Measure, at_most
from cli.cost.model import JOBS, Fleet, Line, lines_of, million_postings, run, total, year

SYSTEM_2000 = (64_482, 80)
MILLION_GOAL_USD = 0.95


def measure() -> list[Measure]:
    """Dollars. A float here is a figure of a report, not money."""
    million = million_postings()
    fleet = Fleet.of(*SYSTEM_2000)
    lines = year(fleet)
    compared = "prepare, post and close; list prices of us-east-1, no free tier"
    return [
        Measure("cost.usd_per_million_postings", _usd(million), "USD", compared, at_most(MILLION_GOAL_USD)),
        Measure("cost.usd_a_year_system_2000", _usd(lines), "USD", f"{SYSTEM_2000[0]:,} participants, 80 employers"),
        *(
            Measure(f"cost.usd_a_year_{job}", _usd([line for line in lines if line.job == job]), "USD", "of that")
            for job in JOBS
        ),
        Measure(
            "cost.usd_per_run_system_2000",
            _usd(lines_of("yields", run(SYSTEM_2000[0], SYSTEM_2000[0]))),
            "USD",
            "one semester's yields",
        ),
    ]


def _usd(lines: list[Line]) -> float:
    return float(total(lines))
