"""Policies of Hudi tables: what to do, when, and how writer and services are kept apart.

The four levels, their patterns and which of them wins are those of all tables
(`policies.domain.policy`). What no level names comes from the table's profile: an ETL table is
served off-peak and in bulk, one for near-line analytics eagerly. Policies live in the portal, so
they change without touching the writer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import time, timedelta
from enum import StrEnum

from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.policies.domain.policy import (
    BUILT_IN,
    MIB,
    BlackoutWindow,
    Level,
    PolicyRule,
    first_broken,
    overlaid,
    working_rules,
)
from portal.lake.errors import RuleViolation

LEAST_STUCK_MINUTES = 10
MOST_DAYS = 36_500
IN_PROCESS = "InProcessLockProvider"
_DAYTIME = BlackoutWindow(time(7), time(22))


class Profile(StrEnum):
    """What a table is for, which says how eagerly it is served."""

    ETL = "etl"
    NEAR_LINE = "near-line"


@dataclass(frozen=True, slots=True, kw_only=True)
class HudiPolicy:
    """All settings that hold for one table; the defaults are those of an ETL table.

    `lock` is the class of the lock provider that the writer and the services share, '' if they
    share none. `takes_turns` says that somebody's scheduler never lets them run at once.
    """

    is_on: bool = False
    profile: Profile = Profile.ETL
    lock: str = ""
    writer_serialized: bool = False
    is_continuous: bool = False  # a service that stays, instead of a job that ends
    kinds: frozenset[Service] = frozenset(
        {Service.COMPACTION, Service.CLUSTERING, Service.ROLLBACK}
    )
    commits: int = 20  # from how many delta commits on a compaction is scheduled
    minutes: int = 24 * 60  # or after how long
    max_plans: int = 10  # that one task executes
    cluster_files: int = 0  # small file groups of a partition; 0 never schedules a clustering
    small_bytes: int = 300 * MIB
    clean_commits: int = 10  # that are kept
    ttl_days: int = 0  # 0 keeps partitions for ever
    stuck_minutes: int = 120
    stale_minutes: int = 26 * 60  # how far the read-optimized view may lie behind
    max_pending: int = 5
    quiet: BlackoutWindow | None = _DAYTIME
    budget_gb_hours: float | None = None  # a day; None is without limit

    @property
    def patience(self) -> timedelta:
        """How old a pending instant without a heartbeat becomes before it is taken for stuck."""
        return timedelta(minutes=self.stuck_minutes)

    @property
    def stale_after(self) -> timedelta:
        """How far the read-optimized view may lie behind before that is a failure."""
        return timedelta(minutes=self.stale_minutes)

    @property
    def stays(self) -> bool:
        """Whether a service stays with the table."""
        return self.is_on and self.is_continuous

    @property
    def has_lock(self) -> bool:
        """Whether a lock is declared that works between processes."""
        return bool(self.lock) and not self.lock.endswith(IN_PROCESS)


FIELDS = tuple(field.name for field in fields(HudiPolicy))
PROFILES: Mapping[Profile, HudiPolicy] = {
    Profile.ETL: HudiPolicy(),
    Profile.NEAR_LINE: HudiPolicy(
        profile=Profile.NEAR_LINE,
        is_continuous=True,
        commits=5,
        minutes=15,
        stuck_minutes=60,
        stale_minutes=60,
        max_pending=2,
        quiet=None,
    ),
}


@dataclass(frozen=True, slots=True)
class ResolvedHudi:
    """The policy of one table, and for each field the scope that says so."""

    policy: HudiPolicy
    sources: Mapping[str, str]


def resolve(levels: Iterable[Level], *, db: str, table: str) -> ResolvedHudi:
    """Put the levels that fit a table together over the defaults of its profile.

    The outcome may contradict itself even where no level does: see `contradiction`.
    """
    values, sources = overlaid(levels, db=db, table=table)
    profile = values.get("profile", Profile.ETL)
    base = PROFILES[Profile(str(profile))]
    built_in = dict.fromkeys(FIELDS, f"{BUILT_IN} for {base.profile}")
    return ResolvedHudi(replace(base, **values), {**built_in, **sources})


def check(policy: HudiPolicy) -> None:
    """Refuse a policy that cannot be meant: RuleViolation `policy.contradiction`."""
    refused = contradiction(policy)
    if refused is not None:
        raise refused


def contradiction(policy: HudiPolicy) -> RuleViolation | None:
    """Return the first thing in a policy that cannot be meant, with the fields that it lies in."""
    return first_broken(_rules(policy))


def _rules(policy: HudiPolicy) -> Iterable[PolicyRule]:
    yield from _ranges(policy)
    yield from working_rules(
        is_on=policy.is_on,
        quiet=policy.quiet,
        kinds=frozenset(policy.kinds),
        budget=policy.budget_gb_hours,
    )
    yield from _locks(policy)
    yield from _times(policy)


def _ranges(policy: HudiPolicy) -> Iterable[PolicyRule]:
    for name, least in (
        ("commits", 1),
        ("minutes", 1),
        ("max_plans", 1),
        ("cluster_files", 0),
        ("small_bytes", MIB),
        ("clean_commits", 1),
        ("ttl_days", 0),
        ("stuck_minutes", LEAST_STUCK_MINUTES),
        ("stale_minutes", 1),
        ("max_pending", 1),
    ):
        value = getattr(policy, name)
        yield (name,), value < least, f"{value} is too little; take {least} or more."
    for name, most in (
        ("minutes", MOST_DAYS * 24 * 60),
        ("stuck_minutes", MOST_DAYS * 24 * 60),
        ("stale_minutes", MOST_DAYS * 24 * 60),
        ("ttl_days", MOST_DAYS),
    ):
        value = getattr(policy, name)
        yield (name,), value > most, f"{value} is longer than a hundred years; take {most} or less."


def _locks(policy: HudiPolicy) -> Iterable[PolicyRule]:
    yield (
        ("lock",),
        policy.lock.endswith(IN_PROCESS),
        f"{IN_PROCESS} holds nobody off who runs in another process, and the services do; name a "
        "provider that the writer uses too, such as FileSystemBasedLockProvider, or none.",
    )
    yield (
        ("kinds", "lock"),
        Service.TTL in policy.kinds and not policy.has_lock,
        "TTL drops partitions beside the writer, which is safe only under a lock that both share; "
        "declare it, or take TTL out.",
    )
    yield (
        ("cluster_files", "lock"),
        policy.cluster_files > 0 and not policy.has_lock,
        "clusterings shall be scheduled, which is safe only under a lock that the writer shares; "
        "declare it, or set cluster_files to 0 and leave scheduling to the writer.",
    )
    yield (
        ("cluster_files", "kinds"),
        policy.cluster_files > 0 and Service.CLUSTERING not in policy.kinds,
        "clusterings shall be scheduled and CLUSTERING is not allowed; allow it, or set "
        "cluster_files to 0.",
    )
    yield (
        ("ttl_days", "kinds"),
        policy.ttl_days > 0 and Service.TTL not in policy.kinds,
        f"partitions shall go after {policy.ttl_days} days and TTL is not allowed; allow it, or "
        "set ttl_days to 0.",
    )
    yield (
        ("ttl_days", "kinds"),
        policy.ttl_days == 0 and Service.TTL in policy.kinds,
        "TTL is allowed and no partition ever goes; set ttl_days, or take TTL out.",
    )


def _times(policy: HudiPolicy) -> Iterable[PolicyRule]:
    yield (
        ("minutes", "stale_minutes"),
        policy.minutes > policy.stale_minutes,
        f"rows may wait {policy.minutes} minutes for a compaction and are a failure after "
        f"{policy.stale_minutes}; let minutes be the smaller.",
    )
    quiet = policy.quiet.minutes if policy.quiet else 0
    yield (
        ("quiet", "stale_minutes"),
        policy.is_on and quiet >= policy.stale_minutes,
        f"nothing begins for {quiet} minutes a day and rows that wait {policy.stale_minutes} are "
        "a failure; shorten the blackout window, or allow more.",
    )
