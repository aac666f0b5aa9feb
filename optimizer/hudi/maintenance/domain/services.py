"""Decides what may be done to a Hudi table beside its writer, and the reason for each refusal.

Hudi's timeline is safe against two processes only under a lock that both take. Without one a
service outside the writer does no more than execute plans that the writer scheduled, and cleans
only where the writer does not. Even that commits to the metadata table, which knows one writer:
where it is on and there is no lock, the two must take turns. Every refusal says what would
allow it.
"""

import re
from dataclasses import dataclass, replace

from optimizer.hudi.inspect.domain.facts import Action, HudiInspection, HudiTable, TableType
from optimizer.hudi.inspect.domain.timeline import WRITES, Silence, pending, unfit
from optimizer.hudi.maintenance.domain.tasks import (
    BY_APPROVAL,
    DESTRUCTIVE,
    Service,
    Step,
    service_of,
)
from optimizer.policies.domain.hudi_policy import IN_PROCESS, HudiPolicy

_MODES = frozenset({"optimistic_concurrency_control", "non_blocking_concurrency_control"})
ALLOWED = "allowed"
_BUCKET = re.compile(r"000\d{5}-")
_COMPACT_INLINE = "hoodie.compact.inline"
_INLINE = {
    Service.COMPACTION: (
        _COMPACT_INLINE,
        "hoodie.datasource.compaction.async.enable",
        "compaction.async.enabled",
    ),
    Service.CLUSTERING: ("hoodie.clustering.inline", "hoodie.clustering.async.enabled"),
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """Which rule says whether something may be done, and why; `needs_approval` if it may."""

    code: str
    reason: str
    needs_approval: bool = False

    @property
    def is_allowed(self) -> bool:
        """Whether it may be done."""
        return self.code == ALLOWED


def lock_problem(table: HudiTable, policy: HudiPolicy) -> str | None:
    """Say why a table has no lock that its writer and services share; None if it has one."""
    if not policy.lock:
        return "Its policy declares no lock provider that its writer and the services share."
    if not policy.has_lock:
        return f"{IN_PROCESS} holds nobody off who runs in another process."
    written = table.properties.get("hoodie.write.lock.provider", policy.lock).strip()
    if written != policy.lock:
        return f"Its policy declares the lock provider {policy.lock} and the table says {written}."
    mode = table.properties.get("hoodie.write.concurrency.mode", "").strip()
    if mode and mode.lower() not in _MODES:
        return f"Its writer runs as {mode.lower()}, which takes no lock."
    return None


def may(look: HudiInspection, policy: HudiPolicy, service: Service, step: Step) -> Ruling:
    """Rule on a step of a service; of a rollback in general, see `may_roll_back` for an instant."""
    left_alone = unfit(look)
    if left_alone is not None:
        return Ruling(left_alone.code, left_alone.reason)
    refused = (
        _no_use(look.table, service)
        or _bucketed(look, service, step)
        or _by_service(look.table, policy, service, step)
        or (_apart(look, policy) if step is Step.EXECUTE else None)
    )
    if refused is not None:
        return refused
    needs_approval = step is Step.EXECUTE and service in BY_APPROVAL
    return Ruling(ALLOWED, _why_allowed(look.table, policy, step), needs_approval)


def may_roll_back(look: HudiInspection, policy: HudiPolicy, silence: Silence) -> Ruling:
    """Rule on rolling one stuck instant back.

    What a service began is rewritten from its plan, so nothing is lost; what a writer began may
    be rows that it still writes.
    """
    action = silence.instant.action
    service = service_of(action)
    if service is not None and service not in DESTRUCTIVE:
        return may(look, policy, service, Step.EXECUTE)
    if action not in WRITES | {Action.ROLLBACK}:
        return Ruling(
            "by-hand",
            f"A {action} that is stuck is not rolled back by a service: let a person look at it, "
            "or a service of its own kind complete it.",
        )
    ruling = may(look, policy, Service.ROLLBACK, Step.EXECUTE)
    if ruling.is_allowed and action in WRITES and not silence.is_heartbeat:
        return Ruling(
            "no-heartbeat",
            "Its writer keeps no heartbeat, so nobody can tell whether it is dead. Let it keep one "
            "(hoodie.clean.failed.writes.policy=LAZY), or start the writer again: it rolls back "
            "what it left.",
        )
    return replace(ruling, needs_approval=ruling.is_allowed)


def _no_use(table: HudiTable, service: Service) -> Ruling | None:
    if service is Service.COMPACTION and table.table_type is TableType.COPY_ON_WRITE:
        return Ruling("no-logs", "A copy-on-write table has no logs to compact.")
    if service is Service.RECOVERY and table.table_type is TableType.COPY_ON_WRITE:
        return Ruling("no-logs", "A copy-on-write table has no logs in which rows could be left.")
    if service is Service.TTL and not table.is_partitioned:
        return Ruling("no-partitions", "TTL drops partitions and the table has none.")
    return None


def _bucketed(look: HudiInspection, service: Service, step: Step) -> Ruling | None:
    """A bucket index finds rows by the number in the file id, and what we write has new ids."""
    is_planned = service is Service.CLUSTERING and step is Step.SCHEDULE
    if not (is_planned or service is Service.RECOVERY) or not look.slices:
        return None
    if not all(_BUCKET.match(one.group.file_id) for one in look.slices):
        return None
    return Ruling(
        "hash-buckets",
        "Its file groups are the buckets of a hash index, as their names say: what is planned or "
        "written here would put rows where its writer does not look for them. Let the writer do "
        "it.",
    )


def _by_service(
    table: HudiTable, policy: HudiPolicy, service: Service, step: Step
) -> Ruling | None:
    problem = lock_problem(table, policy)
    match service, step:
        case ((Service.COMPACTION | Service.CLUSTERING), Step.SCHEDULE):
            return _unlocked(problem, "a plan scheduled beside the writer can lose its rows")
        case ((Service.COMPACTION | Service.CLUSTERING), Step.EXECUTE):
            return _executed_by_writer(table, service)
        case Service.CLEAN, _:
            return _cleaned_by_writer(table)
        case Service.ROLLBACK, _:
            return _unlocked(
                problem, "it may still be writing; it rolls back what it left when it starts again"
            )
        case Service.RECOVERY, _:
            return _unlocked(problem, "a commit beside the writer can be rolled back by it")
        case _:
            if table.flag("hoodie.partition.ttl.inline", default=False):
                return Ruling(
                    "writer-does",
                    "Its writer drops partitions by age itself (hoodie.partition.ttl.inline=true).",
                )
            return _unlocked(problem, "partitions dropped beside the writer can take its rows away")


def _unlocked(problem: str | None, danger: str) -> Ruling | None:
    if problem is None:
        return None
    return Ruling(
        "no-lock",
        f"{problem} Without a shared lock this is left to the writer: {danger}. Give both the same "
        "hoodie.write.lock.provider and declare it in the table's policy.",
    )


def _executed_by_writer(table: HudiTable, service: Service) -> Ruling | None:
    for name in _INLINE[service]:
        if table.flag(name, default=False):
            return Ruling(
                "writer-does",
                f"Its writer executes these plans itself ({name}=true), and two that execute one "
                f"plan roll each other back. Set {name}=false on the table and its writer.",
            )
    is_said = table.properties.get(_COMPACT_INLINE, "").strip().lower() == "false"
    if service is Service.COMPACTION and not is_said:
        return Ruling(
            "writer-may",
            f"The table does not say {_COMPACT_INLINE}=false, and so writers by Spark SQL compact "
            "inline: two that execute one plan roll each other back. Set it on the table.",
        )
    return None


def _cleaned_by_writer(table: HudiTable) -> Ruling | None:
    """Refuse to clean beside a writer that cleans, also under a lock: it executes any plan."""
    if not table.flag("hoodie.clean.automatic", default=True):
        return None
    return Ruling(
        "writer-does",
        "Its writer cleans by itself, as Hudi does unless told otherwise, and executes every plan "
        "of a clean that it finds. Set hoodie.clean.automatic=false on the table and its writer.",
    )


def _apart(look: HudiInspection, policy: HudiPolicy) -> Ruling | None:
    problem = lock_problem(look.table, policy)
    if problem is None or not look.table.is_metadata_on:
        return None
    if not policy.writer_serialized:
        return Ruling(
            "metadata-table",
            f"{problem} Its metadata table is on and knows one writer: what is executed beside the "
            "writer commits to it too, and one can roll the other back. Declare a shared lock, or "
            "say in its policy that the two take turns, or set hoodie.metadata.enable=false.",
        )
    writing = pending(look, WRITES)
    if writing:
        first = writing[0]
        return Ruling(
            "writer-at-work",
            f"Its writer and the services take turns, and {first.action} {first.instant} is not "
            "completed. It is tried again at the next inspection.",
        )
    return None


def _why_allowed(table: HudiTable, policy: HudiPolicy, step: Step) -> str:
    if lock_problem(table, policy) is None:
        return f"Its writer and the services share the lock {policy.lock}."
    if step is Step.SCHEDULE:
        return "Its writer does not clean, so nobody else does."
    return "It was scheduled by the writer, which does not execute it itself."
