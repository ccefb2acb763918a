"""`retiro rebuild` over 27 semesters of made-up history, at the size of System 2000 and at an eighth of it."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.measures import Measure, at_most

PARTICIPANTS = 64_482
"""As many as the program's accounts of 2013."""

FEWER = 8_000
ROUNDS = 5
_MIB = 1024**2
_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Ran:
    """What a process took: by the clock, and its largest resident memory."""

    seconds: float
    peak_mib: float


def measure(participants: int = PARTICIPANTS, fewer: int = FEWER, rounds: int = ROUNDS) -> list[Measure]:
    """Seconds by the clock, memory of the whole process, and what a participant costs more at the larger size."""
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder, "large"), Path(folder, "small")
        for place, count in ((large, participants), (small, fewer)):
            retiro("rebuild", "sample", str(place), "--participants", str(count))
        runs = [(retiro("rebuild", str(large)), retiro("rebuild", str(small))) for _ in range(rounds)]
    growth = median((of_large.seconds / participants) / (of_small.seconds / fewer) for of_large, of_small in runs)
    history = f"{participants:,} participants × 27 semesters, two cores"
    return [
        Measure("rebuild.seconds", median(one.seconds for one, _ in runs), "s", history, at_most(45)),
        Measure("rebuild.peak_mib", max(one.peak_mib for one, _ in runs), "MiB", history, at_most(1024)),
        Measure("rebuild.growth", growth, "ratio", f"a participant's time among {fewer:,}", at_most(1.1)),
    ]


def retiro(*arguments: str) -> Ran:
    """Run the command in a process of its own. Raises `RuntimeError` where it fails."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        command = Path(sys.executable).with_name("retiro")
        process = subprocess.Popen([command, *arguments], stdout=said, stderr=said)  # noqa: S603
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"retiro {' '.join(arguments)}: {said.read().decode()}")
    return Ran(seconds, usage.ru_maxrss * _RSS_UNIT_BYTES / _MIB)
