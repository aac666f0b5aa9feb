"""The portal's order to the job for one Hudi table, and the job's result."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

from optimizer.core.domain.tasks import TaskState
from optimizer.hudi.inspect.domain.facts import Instant
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.tables.jobs.errors import AT_WORK, LOST_TO_OTHERS
from portal.lake.errors import PortalError, RuleViolation

Stop: TypeAlias = Callable[[], None]
"""Raises if the run, or this task of it, shall stop here."""

_GIVEN_UP = LOST_TO_OTHERS | {AT_WORK, "hudi.writer_at_work", "hudi.not_as_listed"}
_FOR_HUDI = "hoodie."


@dataclass(frozen=True, slots=True)
class Order:
    """One task as the request has it.

    `instants` None means all that are pending. `lock` are the settings of a lock that writer and
    services share, empty where there is none; `takes_turns` says that no writer runs meanwhile.
    An inflight instant of which something was heard within `patience` is left alone. `properties`
    are the metastore's, `partitions` those that people approved to go, `digest` that of the list
    of files that they approved to go; a clean without `instants` is planned again for that list.
    """

    task: int
    db: str
    table: str
    location: str
    service: Service
    step: Step
    instants: tuple[str, ...] | None = None
    failed: tuple[str, ...] = ()
    most: int | None = None
    lock: Mapping[str, str] = field(default_factory=dict)
    writer_serialized: bool = False
    patience: timedelta = timedelta(hours=1)
    settings: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    digest: str = ""

    @property
    def hudi_settings(self) -> dict[str, str]:
        """Those of its settings that are meant for Hudi."""
        return {key: text for key, text in self.settings.items() if key.startswith(_FOR_HUDI)}

    @property
    def name(self) -> str:
        """The table's name as people write it."""
        return f"{self.db}.{self.table}"

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Order":
        """Read a task of the request.

        Raises:
            RuleViolation: `hudi.order`.
        """
        try:
            instants, most = row.get("instants"), row.get("most")
            order = cls(
                task=int(row["task"]),
                db=str(row["db"]),
                table=str(row["table"]),
                location=str(row["location"]),
                service=Service(row["service"]),
                step=Step(row["step"]),
                instants=None if instants is None else tuple(map(str, instants)),
                failed=tuple(map(str, row.get("failed") or ())),
                most=None if most is None else int(most),
                lock=_texts(row.get("lock")),
                writer_serialized=bool(row.get("writer_serialized", False)),
                patience=timedelta(seconds=float(row.get("patience_seconds", 3600))),
                settings=_texts(row.get("settings")),
                properties=_texts(row.get("properties")),
                partitions=tuple(map(str, row.get("partitions") or ())),
                digest=str(row.get("digest") or ""),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise RuleViolation(
                "hudi.order", f"A task of the request cannot be read: {error!r}."
            ) from error
        order.check()
        return order

    def check(self) -> None:
        """Refuse an order that does not say what it would take away."""
        if self.step is Step.EXECUTE and self.service is Service.ROLLBACK and not self.instants:
            raise RuleViolation(
                "hudi.order", f"{self.name}: a rollback names the instants that it rolls back."
            )
        if self.step is Step.EXECUTE and self.service is Service.TTL and not self.partitions:
            raise RuleViolation(
                "hudi.order", f"{self.name}: TTL names the partitions that were approved to go."
            )
        if (
            self.step is Step.EXECUTE
            and self.service is Service.CLEAN
            and self.instants is None
            and not self.digest
        ):
            raise RuleViolation(
                "hudi.order", f"{self.name}: a clean names its plans or the list that was approved."
            )
        if self.step is Step.EXECUTE and self.service is Service.RECOVERY and not self.digest:
            raise RuleViolation(
                "hudi.order", f"{self.name}: rows come back by the list that was approved."
            )
        if self.most is not None and self.most < 1:
            raise RuleViolation(
                "hudi.order", f"{self.name}: the number of instants must be at least 1."
            )


@dataclass
class Result:
    """What has come of one task so far; `done` has an entry for each instant."""

    task: int
    table: str = ""
    done: list[dict[str, Any]] = field(default_factory=list)
    errors: list[PortalError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)

    def add(self, one: Instant, *, seconds: float, **counts: int) -> None:
        """Say that an instant was done, in what state it was before, and what it wrote."""
        self.done.append(
            {
                "instant": one.instant,
                "action": one.action.value,
                "was": one.state.value,
                "seconds": round(seconds, 3),
                **counts,
            }
        )

    @property
    def outcome(self) -> TaskState:
        """Done, partly, nothing to do, failed, or given up because others decided."""
        if self.done:
            return TaskState.PARTIAL if self.errors else TaskState.DONE
        if not self.errors:
            return TaskState.NOTHING
        lost = all(error.code in _GIVEN_UP for error in self.errors)
        return TaskState.ABANDONED if lost else TaskState.FAILED

    def as_dict(self, *, seconds: float) -> dict[str, Any]:
        """Return the row of the manifest; the first error speaks for all."""
        first = self.errors[0] if self.errors else None
        said = []
        if first is not None:
            is_named = self.table in first.message
            said.append(first.message if is_named else f"{self.table}: {first.message}")
        if len(self.errors) > 1:
            said.append(f"{len(self.errors) - 1} more instants failed.")
        return {
            "task": self.task,
            "outcome": self.outcome.value,
            "code": first.code if first else "",
            "reason": " ".join([*said, *self.notes]),
            "done": self.done,
            "found": self.found,
            "seconds": round(seconds, 3),
            "before": self.before,
            "after": self.after,
        }


def _texts(given: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in dict(given or {}).items()}
