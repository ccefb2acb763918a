"""The demonstration's steps, each done through the API as the people would, and each safe to do again."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli.api import Api, ApiProblemError
from cli.demo import population, resolutions
from cli.demo.people import People
from cli.demo.population import SEMESTER, Member

POLL_SECONDS = 0.3
Progress = Callable[[int, int], None]
"""Told how much is done, of how much."""

RUN_ENDED = frozenset({"posted", "failed", "paused", "reversed"})


class DemoFailedError(Exception):
    """The stack did what the demonstration doesn't expect; the text says what."""


@dataclass(frozen=True)
class Scenes:
    """What happens, in the order of the methods."""

    people: People

    def adopt_settings(self) -> list[dict[str, Any]]:
        """The Board's settings, each proposed by one person and adopted by another."""
        return [self.adopt(one) for one in resolutions.settings()]

    def enrol(self, members: list[Member], progress: Progress) -> None:
        """The file of participants, worked off."""
        office = self.people.preparer
        received = office.post("/participant-files", population.participant_file(members))
        for file in _watched(office, received["place"]):
            progress(file["done"], file["of"])
            if file["errors"] or file["status"] == "failed":
                raise DemoFailedError(f"the file of participants: {file['status']}, {file['errors'][:3]}")
            if file["status"] == "done":
                return

    def remit(self, members: list[Member], progress: Progress) -> int:
        """Every employer's remittance of every month: sent by its clerk, confirmed by the fund, credited. How many."""
        sent = population.remittances(members)
        for month_ended in range(0, len(sent), len(population.EMPLOYERS)):
            month = sent[month_ended : month_ended + len(population.EMPLOYERS)]
            places = [self._confirmed(remittance) for remittance in month]
            for place in places:
                self._credited(place)
            progress(month_ended + len(month), len(sent))
        return len(sent)

    def remit_one(self, remittance: Mapping[str, Any]) -> None:
        """One remittance: sent by its payer's clerk, confirmed by the fund, credited."""
        self._credited(self._confirmed(remittance))

    def adopt_figures(self) -> None:
        """The Treasury's series and the portfolio's return: the figures that the semester waits for."""
        self.adopt(resolutions.treasury_yields())
        self.adopt(resolutions.portfolio_return())

    def standing(self) -> dict[str, Any]:
        """How the semester stands."""
        return self.people.preparer.get(f"/yield-runs/{SEMESTER}")

    def prepare(self, progress: Progress) -> dict[str, Any]:
        """One person has the semester prepared: the very lines to be written, and a hash of them all."""
        office = self.people.preparer
        while True:
            try:
                office.post("/yield-runs", {"semester": str(SEMESTER)}, key=f"demo-prepare-{time.time_ns()}")
                break
            except ApiProblemError as problem:
                # The last adoption has started a run of its own: let it come to its end, and prepare anew.
                if problem.code != "run_under_way":
                    raise
                time.sleep(POLL_SECONDS)
        return self._watch_run(progress, "prepared")

    def approve(self, prepared: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        """Another person approves that hash, and it is posted."""
        self.people.approver.post(f"/yield-runs/{SEMESTER}/approval", {"hash": prepared["run"]["hash"]})
        return self._watch_run(progress, "posted")

    def exceptions(self) -> list[dict[str, Any]]:
        """Whose yield isn't posted, and why."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.people.preparer.get(f"/yield-runs/{SEMESTER}/exceptions{cursor}")
            found += page["items"]
            if page["next_cursor"] is None:
                return sorted(found, key=lambda one: str(one["participant_id"]))
            cursor = f"?cursor={page['next_cursor']}"

    def statement(self, participant_id: str) -> dict[str, Any]:
        """A participant's statement of the semester."""
        return self.people.preparer.get(f"/participants/{participant_id}/statements/{SEMESTER}")

    def adopt(self, resolution: Mapping[str, Any]) -> dict[str, Any]:
        """A resolution of the Board, proposed by one person and adopted by another."""
        proposed = self.people.proposer.post("/board-resolutions", resolution)
        return self.people.adopter.post(
            f"/board-resolutions/{proposed['resolution_id']}/adoption", {"content_hash": proposed["content_hash"]}
        )

    def _confirmed(self, remittance: Mapping[str, Any]) -> str:
        sent = self.people.clerks[remittance["employer_id"]].post("/payroll-remittances", remittance)
        place = f"/payroll-remittances/{sent['remittance_id']}"
        self.people.treasurer.post(f"{place}/deposit", population.deposit(remittance))
        return place

    def _credited(self, place: str) -> None:
        for remittance in _watched(self.people.treasurer, place):
            if remittance["status"] == "closed":
                return
            if remittance["status"] in {"failed", "credited"}:
                raise DemoFailedError(f"{place}: {remittance['status']}, {remittance['unplaced'][:3]}")

    def _watch_run(self, progress: Progress, wanted: str) -> dict[str, Any]:
        for standing in _watched(self.people.preparer, f"/yield-runs/{SEMESTER}"):
            run = standing["run"]
            done = run["progress"]
            if wanted == "prepared":
                progress(done["looked_at"], done["participants"])
            else:
                progress(done["done"], done["lines"])
            if standing["status"] == wanted:
                return standing
            if standing["status"] in RUN_ENDED:
                raise DemoFailedError(f"{SEMESTER} is {standing['status']}: {run['failure']}")
        raise AssertionError("watching ends with an answer")


def _watched(api: Api, place: str) -> Iterator[dict[str, Any]]:
    """What stands at a place, again and again."""
    while True:
        yield api.get(place)
        time.sleep(POLL_SECONDS)
