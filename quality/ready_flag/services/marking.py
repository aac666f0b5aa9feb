"""Marks partitions as ready or not ready. It sets one parameter; all else of them stays.

Said twice it changes nothing, leaves no event in the metastore's log and no line in the record. Who
follows the lake hears of a change as of any other: by the metastore's event of that partition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pymetastore.hive_metastore import ttypes

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, NotVisible, RuleViolation, StaleState, TooMuch
from portal.lake.names import PartitionName, TableName
from portal.lake.partition_specs import expand
from portal.lake.readiness import is_ready, marked
from quality.ready_flag.services.arrivals import arrivals_note
from quality.ready_flag.services.mark_gates import note_taken_back, refusals
from quality.ready_flag.services.tables import changed_at, keys_of, table_seen

MOST_PARTITIONS = 1_000
AT_THE_SHELL = "shell"
# The metastore changes each call's partitions in one transaction.
_AT_ONCE = 100
_RECORDED = 20


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody says: these partitions, by names or parts of names, are ready or are not."""

    lake: str
    table: str
    partitions: tuple[str, ...]
    ready: bool


@dataclass(frozen=True, slots=True)
class Marked:
    """What it came to: so many partitions were meant, of so many the flag was another."""

    hive: TableName
    ready: bool
    n_partitions: int
    n_changed: int


def partitions_mark(mark: Mark, *, user: User | None, now: datetime) -> Marked:
    """Set the flag of the partitions meant; `user` None is somebody at the portal's shell.

    Either every name stands for some partition, or nothing is changed.

    Raises:
        RuleViolation: a name that is none, or that the portal does not act on.
        NotVisible: no such lake, table or partition for this person.
        TooMuch: more partitions than are set at once.
        ExternalFailure: the metastore does not answer; what was set stays set, so say it again.
        StaleState: `readiness.held`, a check keeps one of them from being ready; or somebody else
            changed one of the partitions at the same moment; say it again.
    """
    _check_amount(len(mark.partitions))
    if not mark.partitions:
        raise RuleViolation(
            "readiness.nothing",
            "Name at least one partition, in full or by a part of its name (dt=2026-11-21).",
        )
    config = get_lake(mark.lake)
    hive = TableName.parse(config.lake, mark.table)
    with Metastore.connect(config) as metastore:
        keys = keys_of(table_seen(metastore, hive, user=user))
        names = _names_meant(metastore, hive, mark.partitions, keys=keys)
        if mark.ready:
            _check_held(hive, names, metastore, keys)
        else:
            note_taken_back(hive, names, now=now)
        n_changed, problem = 0, ""
        try:
            for n_set in flags_set(metastore, hive, names, ready=mark.ready):
                n_changed += n_set
        except (ExternalFailure, StaleState) as error:
            problem = error.message
            raise
        finally:
            if n_changed or problem:
                _record(mark, Marked(hive, mark.ready, len(names), n_changed), problem, user, now)
                said = [] if problem else names
                by = AT_THE_SHELL if user is None else user.username
                arrivals_note(hive, said, keys=keys, ready=mark.ready, by=by, now=now)
    return Marked(hive, mark.ready, len(names), n_changed)


def _check_held(
    hive: TableName, names: Sequence[str], metastore: Metastore, keys: tuple[str, ...]
) -> None:
    changed: dict[str, datetime | None] = dict.fromkeys(names)
    for struct in metastore.partitions_by_names(hive, names):
        changed[str(PartitionName.stored(keys, struct.values))] = changed_at(struct)
    held = refusals(hive, changed)
    if held:
        name, reason = next(iter(sorted(held.items())))
        more = f" So is it with {len(held) - 1} more of them." if len(held) > 1 else ""
        raise StaleState(
            "readiness.held",
            f"{name} of {hive} cannot be marked as ready: {reason}.{more} No flag was set. Have "
            "its checks measured, then say it again.",
            table=str(hive),
            partition=name,
            n_held=len(held),
        )


def _names_meant(
    metastore: Metastore, hive: TableName, specs: Sequence[str], *, keys: tuple[str, ...]
) -> tuple[str, ...]:
    # Read only once the specs have been found to be names at all.
    found = expand(specs, keys=keys, names=_names(metastore, hive))
    if found.unmatched:
        raise NotVisible(
            "readiness.partition",
            f"{hive} has no partition like {found.unmatched[0]!r}, so no flag was set. Check the "
            "value, and that the job has registered the partition.",
            table=str(hive),
            partition=found.unmatched[0],
        )
    _check_amount(len(found.names))
    return found.names


def _names(metastore: Metastore, hive: TableName) -> Iterator[str]:
    yield from metastore.partition_names(hive)


def _check_amount(n_partitions: int) -> None:
    if n_partitions > MOST_PARTITIONS:
        raise TooMuch(
            "readiness.too_many",
            f"{n_partitions} partitions were named; the flag of {MOST_PARTITIONS} is set at once. "
            "Name fewer, in several calls.",
            n_partitions=n_partitions,
        )


def flags_set(
    metastore: Metastore, hive: TableName, names: Sequence[str], *, ready: bool
) -> Iterator[int]:
    """Set the flag where it says something else, giving after each call how many were changed.

    The metastore has no compare-and-set for partitions: what was written is read again.

    Raises:
        StaleState: `readiness.overtaken`, a flag says something else right after it was set.
    """
    for start in range(0, len(names), _AT_ONCE):
        changed: list[ttypes.Partition] = []
        for struct in metastore.partitions_by_names(hive, names[start : start + _AT_ONCE]):
            parameters = marked(struct.parameters or {}, ready=ready)
            if parameters is not None:
                struct.parameters = parameters
                changed.append(struct)
        if changed:
            metastore.alter_partitions(hive, changed)
            _check_stands(metastore, hive, names[start : start + _AT_ONCE], ready=ready)
        yield len(changed)


def _check_stands(
    metastore: Metastore, hive: TableName, names: Sequence[str], *, ready: bool
) -> None:
    """Refuse to say that a flag was set which another writer of the partition has written over."""
    for struct in metastore.partitions_by_names(hive, names):
        if is_ready(struct.parameters or {}) is not ready:
            raise StaleState(
                "readiness.overtaken",
                f"Somebody else changed the partition {'/'.join(struct.values)} of {hive} at the "
                "same moment, and its flag says something else now. If that was no later word on "
                "its data, say it again.",
                table=str(hive),
            )


def _record(mark: Mark, marked: Marked, problem: str, user: User | None, now: datetime) -> None:
    audit_record(
        "partitions.marked",
        actor=AT_THE_SHELL if user is None else user.username,
        lake=str(marked.hive.lake),
        object_type="table",
        object_id=str(marked.hive),
        data={
            "ready": mark.ready,
            "partitions": list(mark.partitions[:_RECORDED]),
            "n_told": len(mark.partitions),
            "n_partitions": marked.n_partitions,
            "n_changed": marked.n_changed,
            "problem": problem,
        },
        now=now,
    )
