"""Hudi tables for the tests of what is decided of them: small, whole, and named by the minute."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    FileGroupId,
    FileSlice,
    HudiInspection,
    HudiTable,
    Instant,
    InstantState,
    LogBlock,
    PendingPlan,
    TableType,
    Uncompacted,
)
from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.policies.domain.hudi_policy import PROFILES, HudiPolicy, Profile

START = datetime(2026, 3, 2, tzinfo=UTC)
NOW = START + timedelta(minutes=1000)
LOCK = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
STANDALONE = {"hoodie.compact.inline": "false", "hoodie.clean.automatic": "false"}
COMPACTION, CLUSTERING, DELTA = Action.COMPACTION, Action.CLUSTERING, Action.DELTA_COMMIT
REQUESTED, INFLIGHT = InstantState.REQUESTED, InstantState.INFLIGHT
ALL = frozenset(Service)


def at(minute: int) -> datetime:
    """Return a time, in minutes after the world began."""
    return START + timedelta(minutes=minute)


def name(minute: int) -> str:
    """Return the instant of a minute as Hudi would name it."""
    return f"{at(minute):%Y%m%d%H%M%S}000"


def done(minute: int, action: Action = DELTA, **facts: Any) -> Instant:
    """Return an instant that was completed a minute after it was requested."""
    return Instant(
        instant=name(minute),
        action=action,
        state=InstantState.COMPLETED,
        requested_at=at(minute),
        inflight_at=at(minute),
        completed=name(minute + 1),
        completed_at=at(minute + 1),
        **facts,
    )


def begun(minute: int, action: Action = DELTA, **facts: Any) -> Instant:
    """Return an instant that is inflight."""
    return Instant(
        instant=name(minute),
        action=action,
        state=INFLIGHT,
        requested_at=at(minute),
        inflight_at=at(minute),
        **facts,
    )


def asked(minute: int, action: Action = COMPACTION) -> Instant:
    """Return an instant that is only requested."""
    return Instant(instant=name(minute), action=action, state=REQUESTED, requested_at=at(minute))


def plan(
    minute: int, *file_ids: str, action: Action = COMPACTION, begun: bool = False
) -> PendingPlan:
    """Return a pending plan on file groups of the partition p."""
    return PendingPlan(
        instant=name(minute),
        action=action,
        requested_at=at(minute),
        is_begun=begun,
        file_groups=tuple(FileGroupId("p", one) for one in file_ids),
        log_bytes=10 * len(file_ids),
    )


def logs(
    file_id: str, minute: int, *, base: int | None = 100, n: int = 1, earlier: bool = False
) -> FileSlice:
    """Return a slice of the partition p whose `n` logs are of a minute."""
    return FileSlice(
        group=FileGroupId("p", file_id),
        base_instant=name(0),
        base_bytes=base,
        n_logs=n,
        log_bytes=10 * n,
        oldest_log_instant=name(minute) if n else None,
        newest_log_instant=name(minute) if n else None,
        has_earlier_base=earlier,
    )


def waiting(*minutes: int) -> tuple[Uncompacted, ...]:
    """Return delta commits that stand only in logs, each completed a minute after its request."""
    return tuple(
        Uncompacted(instant=name(one), completed_at=at(one + 1), n_file_groups=1, log_bytes=10)
        for one in minutes
    )


def block(minute: int | None, state: BlockState, kind: BlockKind = BlockKind.DATA) -> LogBlock:
    """Return a block of a log file of the file group p/f."""
    return LogBlock(
        group=FileGroupId("p", "f"),
        log_file=".f_1.log.1",
        position=0,
        kind=kind,
        state=state,
        instant=None if minute is None else name(minute),
    )


def table(**facts: Any) -> HudiTable:
    """Return a merge-on-read table whose writer leaves the services to us."""
    plain = HudiTable(
        location="/lake/t",
        table_type=TableType.MERGE_ON_READ,
        version=9,
        layout_version=2,
        partition_fields=("p",),
        record_key="id",
        properties=STANDALONE,
    )
    return replace(plain, **facts)


def look(*instants: Instant, **facts: Any) -> HudiInspection:
    """Return a look at a table that has these instants, and besides what is named."""
    facts = {"table": table(), **facts}
    return HudiInspection(inspected_at=NOW, instants=instants, **facts)


def policy(profile: Profile = Profile.ETL, **settings: Any) -> HudiPolicy:
    """Return a policy that is on."""
    return replace(PROFILES[profile], **{"is_on": True, **settings})


def locked(**settings: Any) -> HudiPolicy:
    """Return a policy of a table with a shared lock, which allows every service."""
    return policy(**{"lock": LOCK, "kinds": ALL, "ttl_days": 30, **settings})


_MINUTE = st.integers(1, 999)
_FILE = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def looks(draw: st.DrawFn) -> HudiInspection:
    """Draw a look at a table in any state, most of them with something wrong."""
    minutes = draw(st.lists(_MINUTE, unique=True, max_size=8))
    instants, plans = [], []
    for minute in minutes:
        action = draw(st.sampled_from([DELTA, COMPACTION, CLUSTERING, Action.CLEAN]))
        match draw(st.sampled_from(InstantState)):
            case InstantState.COMPLETED:
                instants.append(done(minute, action if action is not CLUSTERING else DELTA))
                continue
            case InstantState.INFLIGHT:
                beat = draw(st.none() | _MINUTE.map(at))
                instants.append(begun(minute, action, heartbeat_at=beat))
            case InstantState.REQUESTED:
                instants.append(asked(minute, action))
        if action in {COMPACTION, CLUSTERING}:
            plans.append(plan(minute, *draw(st.sets(_FILE, max_size=2)), action=action))
    blocks = st.builds(
        block,
        st.sampled_from([*minutes, 500, None]),
        st.sampled_from(BlockState),
        st.sampled_from(BlockKind),
    )
    slices = st.builds(
        logs,
        _FILE,
        _MINUTE,
        base=st.none() | st.integers(0, 10**9),
        n=st.integers(0, 3),
        earlier=st.booleans(),
    )
    return look(
        *instants,
        table=draw(
            st.builds(
                table,
                table_type=st.sampled_from(TableType),
                version=st.sampled_from([6, 8, 9, 9, 9]),
                is_metadata_on=st.booleans(),
                faults=st.sampled_from([(), (), (), ("deltacommit 1 is empty.",)]),
            )
        ),
        plans=tuple(plans),
        slices=tuple(draw(st.lists(slices, max_size=4, unique_by=lambda one: one.group))),
        uncompacted=waiting(*draw(st.lists(_MINUTE, unique=True, max_size=4))),
        blocks=tuple(draw(st.lists(blocks, max_size=2))) if draw(st.booleans()) else (),
        has_read_logs=draw(st.booleans()),
    )


POLICIES = st.sampled_from(
    [
        policy(),
        policy(Profile.NEAR_LINE, writer_serialized=True),
        policy(kinds=frozenset({Service.CLEAN}), max_plans=1),
        locked(),
        locked(max_plans=2, commits=1, cluster_files=1, clean_commits=1, stuck_minutes=10),
        policy(is_on=False),
        policy(commits=0),
    ]
)
