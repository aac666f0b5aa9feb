"""The program that stays: it watches Hudi tables, and serves them as the portal decides.

What the portal wants stands in the run's control file, read every second: `watch` are tables to
look at, `orders` are tasks. A table is looked at when it is new to the program, when its timeline
changed, and when the portal says that a look is due. Below the spool's results a look is
`looks/<table id>.json`, with `looks.json` telling when each was made, and what came of a task is
`tasks/<turn>.json`, a turn being a task as it was sent this time. Each file is written whole.

It ends when it is told to, after `stay_seconds`, and where a table's instants could not follow
those that it made before. A task that it did not come to is in no file, and waits again.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import SparkSession

from optimizer.hudi.inspect.jobs.inspect_tables import asked_of, open_row
from optimizer.hudi.inspect.jobs.snapshot import look_at
from optimizer.hudi.maintenance.jobs.run_services import offset_of, task_done
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable, use_hudi
from portal.lake.counts import count_words
from portal.lake.errors import ExternalFailure, PortalError
from portal.spark.job import JobContext

_PAUSE_SECONDS = 1.0
_CHECK_SECONDS = 5.0
_TELL_SECONDS = 10.0
_AGAIN_SECONDS = 60.0
_MOST_SILENT = 60
_STAYED = "It stayed for as long as one does; another takes its place."
_ZONES = "It has served tables whose instants are ahead of those of {table}; another serves it."


@dataclass
class Watched:
    """What the program knows of a table: its timeline, and which request for a look it has met."""

    timeline: str = ""
    due: str = ""
    inspected_at: float = float("-inf")
    check_at: float = float("-inf")

    def is_wanted(self, due: str, *, now: float) -> bool:
        """Whether a look is due: a new one, or still the same, made too early by another's clock.

        `now` is in seconds of the monotonic clock.
        """
        return bool(due) and (due != self.due or now - self.inspected_at >= _AGAIN_SECONDS)


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Stay; `stay_seconds` is for how long. Gives why it ended, the rest stands in files."""
    use_hudi(spark, lake=str(job.config.lake), writing_in=job.config.zone)
    for name in ("looks", "tasks"):
        job.spool.fs.make_directories(job.spool.results.child(name), mode=0o700)
    service = Resident(job)
    return {"tasks": [], "stopped": service.stay(float(job.params["stay_seconds"]))}


@dataclass
class Resident:
    """One program's stay."""

    job: JobContext
    _watched: dict[int, Watched] = field(default_factory=dict)
    _looked: dict[str, str] = field(default_factory=dict)
    _turns: set[str] = field(default_factory=set)
    _offsets: dict[str, float] = field(default_factory=dict)
    _offset: float = float("-inf")
    _n_silent: int = 0
    _told: str = ""
    _told_at: float = float("-inf")

    def stay(self, seconds: float) -> str:
        """Do what is wanted until the time is over; gives why it ended.

        Raises:
            StaleState: `run.cancelled`, somebody ended it.
        """
        ends, stopped = time.monotonic() + seconds, ""
        while not stopped and time.monotonic() < ends:
            wanted = self._wanted()
            stopped = self._turn(wanted) if wanted is not None else ""
        return stopped or _STAYED

    def _wanted(self) -> dict[str, Any] | None:
        """Read what the portal wants; None where the spool does not answer for a moment."""
        try:
            wanted = self.job.control(fresh=True)
        except ExternalFailure as error:
            self._n_silent += 1
            if self._n_silent > _MOST_SILENT:
                raise
            self.job.log(f"{error.code}: {error.message}")
            time.sleep(_PAUSE_SECONDS)
            return None
        self._n_silent = 0
        return wanted

    def _turn(self, wanted: Mapping[str, Any]) -> str:
        """Do the first thing that is wanted, tasks before looks; gives why it has to end."""
        self.job.check_control()
        watch = list(wanted.get("watch", ()))
        self._tell(_words(len(watch), len(self._turns)))
        orders = [one for one in wanted.get("orders", ()) if one["turn"] not in self._turns]
        if orders:
            # Instants can only follow those that were made before: tables that are behind go first.
            return self._serve(min(orders, key=lambda one: self._ahead(one) or 0.0), watch)
        row = self._first_to_look_at(watch)
        if row is None:
            time.sleep(_PAUSE_SECONDS)
        else:
            self._look(row)
        return ""

    def _serve(self, row: Mapping[str, Any], watch: Sequence[Mapping[str, Any]]) -> str:
        ahead = self._ahead(row)
        if ahead is not None and ahead < self._offset:
            return _ZONES.format(table=f"{row.get('db')}.{row.get('table')}")
        self._offset = self._offset if ahead is None else ahead
        self._write("begun.json", {"turn": row["turn"]})
        result, _ = task_done(self.job, row)
        self._turns.add(row["turn"])
        self._write(f"tasks/{row['turn']}.json", result or {"task": row["task"], "outcome": ""})
        # The portal asks for a look once it knows what came of the task: not twice.
        for one in watch:
            if one["location"] == row["location"] and one["table_id"] in self._watched:
                self._watched[one["table_id"]].timeline = self._timeline(one)
        return ""

    def _first_to_look_at(self, watch: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        """Return the table to look at first, so that a busy one never keeps others from their turn.

        What a look is due for comes first, what waits longest first of all; then as many timelines
        as a second allows are asked, those that were asked longest ago.
        """
        now = time.monotonic()
        known = {row["table_id"]: self._watched.get(row["table_id"], Watched()) for row in watch}
        wanted = [
            row
            for row in watch
            if row["table_id"] not in self._watched
            or known[row["table_id"]].is_wanted(row["due"], now=now)
        ]
        if wanted:
            return min(wanted, key=lambda row: known[row["table_id"]].inspected_at)
        for row in sorted(watch, key=lambda row: known[row["table_id"]].check_at):
            table = known[row["table_id"]]
            if table.check_at > now or time.monotonic() >= now + _PAUSE_SECONDS:
                break
            table.check_at = time.monotonic() + _CHECK_SECONDS
            if self._timeline(row) != table.timeline:
                return row
        return None

    def _look(self, row: Mapping[str, Any]) -> None:
        """Look at a table; what is written to it meanwhile is seen as a change afterwards."""
        at, asked = datetime.now(UTC), asked_of(row)
        known = self._watched.setdefault(row["table_id"], Watched())
        known.due, known.inspected_at = row["due"], time.monotonic()
        known.timeline = ""
        found: dict[str, Any] = {"read_logs": asked.read_logs, "read_keys": asked.read_keys}
        try:
            table = open_row(self.job, row)
            known.timeline = _instants(table)
            found["look"] = look_at(table, asked, now=at).as_dict()
        except PortalError as error:
            known.timeline = known.timeline or error.code
            self.job.log(f"{row.get('db')}.{row.get('table')}: {error.code}: {error.message}")
            found["failed"] = error.message
        self._write(f"looks/{row['table_id']}.json", found)
        known.check_at = time.monotonic() + _CHECK_SECONDS
        self._looked[str(row["table_id"])] = at.isoformat()
        self._write("looks.json", self._looked)

    def _ahead(self, row: Mapping[str, Any]) -> float | None:
        """Return how far ahead of UTC a table's instants are; None where it cannot be opened."""
        place = str(row.get("location"))
        found = self._offsets.get(place)
        if found is None and (found := offset_of(self.job, row)) is not None:
            self._offsets[place] = found
        return found

    def _timeline(self, row: Mapping[str, Any]) -> str:
        """Return what changes when an instant is begun, goes on or ends."""
        try:
            return _instants(open_row(self.job, row))
        except PortalError as error:
            return error.code

    def _write(self, name: str, found: Mapping[str, Any]) -> None:
        path = self.job.spool.results.child(*name.split("/"))
        self.job.spool.fs.replace(path, json.dumps(found, sort_keys=True).encode())

    def _tell(self, words: str) -> None:
        if words != self._told and time.monotonic() - self._told_at >= _TELL_SECONDS:
            self.job.progress("stay", len(self._turns), 0, words)
            self._told, self._told_at = words, time.monotonic()


def _words(n_tables: int, n_tasks: int) -> str:
    watched, done = count_words(n_tables, "table"), count_words(n_tasks, "task")
    return f"Watches {watched}, did {done}."


def _instants(table: OpenedTable) -> str:
    with clear_errors(table.name):
        return str(table.java.getActiveTimeline().getTimelineHash())
