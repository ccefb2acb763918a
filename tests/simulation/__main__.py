"""`python -m tests.simulation`: run seeds, or replay one."""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.simulation import Report, simulate


def main() -> int:
    """Run them; 1 where any invariant was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=300, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--trace", action="store_true", help="say each call, of one seed")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    if asked.seed is not None:
        report = simulate(asked.seed, print if asked.trace else None)
        print(report)  # noqa: T201
        return report.invariant is not None
    begun = time.perf_counter()
    broken: list[Report] = []
    sums: Counter[str] = Counter()
    with ProcessPoolExecutor(asked.processes) as pool:
        seeds = range(asked.first, asked.first + asked.seeds)
        for report in pool.map(simulate, seeds, chunksize=5):
            sums.update(steps=report.steps, operations=report.operations, lines=report.lines)
            if report.invariant is not None:
                broken.append(report)
                print(report, flush=True)  # noqa: T201
    seconds = time.perf_counter() - begun
    print(  # noqa: T201
        f"{asked.seeds} seeds in {seconds:.1f} s ({asked.seeds / seconds:.1f} a second): "
        f"{sums['operations']} operations, {sums['steps']} calls, {sums['lines']} lines; "
        f"{len(broken)} seeds with a violation"
    )
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
