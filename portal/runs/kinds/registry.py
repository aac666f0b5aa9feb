"""Registry of kinds of runs. Apps register a RunKind each in `AppConfig.ready()`.

`tasks/` drives every run through the same states and calls these; a kind never sees a broker.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from portal.lake.errors import NotVisible
from portal.runs.domain import SILENCE, SILENCE_ACTING, Schedule
from portal.runs.models import Run
from portal.runs.records.spools import open_spool


class RunKind:
    """One sort of work. Every method is safe to call twice with the same run and epoch."""

    name: ClassVar[str]
    title: ClassVar[str]
    job: ClassVar[str | None] = None
    """Module of the Spark job; None = done inside the worker by `execute`, in under 5 minutes."""
    queue: ClassVar[str] = "default"
    acting: ClassVar[bool] = False
    """Whether the job changes the lake: such a run is settled and never adopted blindly."""
    writes_tables: ClassVar[bool] = False
    """Whether the job writes files that readers of a table read, whoever they are."""
    yields: ClassVar[bool] = False
    """Whether the job gives way to all else on its machine: upkeep that nobody waits for."""
    stays: ClassVar[bool] = False
    """Whether the job mostly waits: on a cluster it then gives back what it does not use."""
    destroys: ClassVar[bool] = False
    """Whether it takes something away: it is then started only in the lake's working hours."""
    results_pass: ClassVar[bool] = False
    """Whether `ingest` takes the result files in whole: they then go some days after the run."""
    start_roles: ClassVar[frozenset[str]] = frozenset()
    attempts: ClassVar[int] = 2
    """How many epochs may be tried when applications die without a manifest."""
    longest: ClassVar[timedelta] = timedelta(hours=24)
    """After this an application is taken for hung and ended."""
    schedule: ClassVar[Schedule | None] = None

    @property
    def is_routine(self) -> bool:
        """Whether the schedule starts it all day and it changes nothing: lists may leave it out."""
        every = self.schedule.every if self.schedule else None
        return every is not None and not self.acting

    @property
    def silence(self) -> timedelta:
        """After which silence its application is taken for frozen and ended."""
        return SILENCE_ACTING if self.acting else SILENCE

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Return the params of a run by schedule; None = not wanted now."""
        return {"now": now.isoformat()}

    def scheduled_key(self, lake: str, slot: str) -> str:
        """Return the unique key of a run by schedule: one a lake and slot."""
        return f"{self.name}:{lake}:{slot}"

    def request(self, run: Run) -> dict[str, Any]:
        """Return the params of the Spark job's request."""
        return dict(run.params)

    def environment(self, run: Run) -> dict[str, str]:
        """Return what the job gets by environment: passwords, never anything else secret."""
        return {}

    def prepare(self, run: Run) -> None:
        """Do what must stand before submit; acting kinds make the fence here."""

    def waits(self, run: Run, *, now: datetime) -> str:
        """Say what a queued run must wait for, in words; empty = it may start. Asked again later.

        Working hours are asked for beside it, of every kind that destroys.
        """
        return ""

    def must_wait(self, error: Mapping[str, Any]) -> bool:
        """Whether an error says that nothing was begun and that the run has to wait after all."""
        return False

    def beat(self, run: Run) -> None:
        """Tell a running job what it must know, about every 5-10 s; acting kinds renew a lease."""
        write_cancel(run)

    def execute(self, run: Run) -> dict[str, Any]:
        """Do the work of a kind without a job; the result goes to `ingest` as the manifest's."""
        raise NotImplementedError(f"{self.name} has no job and no execute")

    def results_needed(self, lake: str, *, since: datetime) -> Iterable[UUID]:
        """Return the runs whose result files somebody may have begun to read since an instant."""
        return ()

    def settle(self, run: Run) -> None:
        """Bring the lake into a known state after the application ended, however it ended."""

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take the result into the portal's database, in chunks.

        Called for failed and cancelled runs too; `manifest["outcome"]` says which. What it leaves
        in `manifest["result"]` is the result that the run keeps.
        """


def write_cancel(run: Run) -> None:
    """Write the run's control file when a cancel was asked for."""
    if run.cancel_requested_by and run.spool:
        open_spool(run).write_control({"cancel": True, "by": run.cancel_requested_by})


_kinds: dict[str, RunKind] = {}


def register(kind: RunKind) -> RunKind:
    """Add a kind; registering a name again replaces it."""
    _kinds[kind.name] = kind
    return kind


def get_kind(name: str) -> RunKind:
    """Return a kind by name.

    Raises:
        NotVisible: no room registered it.
    """
    try:
        return _kinds[name]
    except KeyError:
        raise NotVisible("run.kind", f"No work of the kind '{name}' is known.", kind=name) from None


def find_kind(name: str) -> RunKind | None:
    """Return a kind by name, or None where no room registered it."""
    return _kinds.get(name)


def destroys(name: str) -> bool:
    """Say whether runs of a kind take something away."""
    kind = _kinds.get(name)
    return kind is not None and kind.destroys


def all_kinds() -> list[RunKind]:
    """Return every kind, by name."""
    return [_kinds[name] for name in sorted(_kinds)]
