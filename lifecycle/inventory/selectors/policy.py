"""Reads a table's or database's policy, and its changes: when, by whom and the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime

from lifecycle.core.domain.days import Days
from lifecycle.core.domain.enrollment import read_policy
from lifecycle.core.domain.last_changes import ECHO_WITHIN, Report, echoes
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.inventory.selectors.findings import mode_of
from lifecycle.models import (
    DatabaseSetting,
    EnrollmentItem,
    PolicyRequest,
    PolicySnapshot,
    TableFinding,
)
from lifecycle.policies.domain.policy import Asker, Values
from lifecycle.policies.domain.states import EnrollmentState, RequestKind, RequestState
from lifecycle.rules.domain.conformity import Reason
from lifecycle.rules.domain.templates import DEFAULT_TEMPLATE, Template
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.lake.errors import RuleViolation

CHANGES = ("policy.changed", "owner.changed")
DAYS_CHANGED = "database.days_changed"
_LOOKED_AT = 20
_ASKED_BEFORE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class PolicyNow:
    """What stands on a table or database as far as the portal knows, and since when it knows."""

    values: Values
    owner: str
    problem: str
    known_at: datetime | None
    is_newer_than_scan: bool = False

    @property
    def is_known(self) -> bool:
        """Whether anything ever read it."""
        return self.known_at is not None


def table_policy(found: TableFinding) -> PolicyNow:
    """Give what stands on a table: what a run of ours read or wrote since the scan, or the scan."""
    seen = _seen(found.lake, found.db, found.table)
    read_at = found.generation.read_at
    if seen is not None and seen.seen_at > read_at:
        owner = seen.owner or found.owner
        return PolicyNow(seen.values, owner, seen.problem, seen.seen_at, is_newer_than_scan=True)
    values = Values(found.level, found.ttl)
    return PolicyNow(values, found.owner, "", read_at)


def database_policy(lake: str, db: str) -> PolicyNow:
    """Return what new tables of a database get; the scan does not read it, a short run does."""
    seen = _seen(lake, db, "")
    if seen is None:
        return PolicyNow(Values(), "", "", None)
    return PolicyNow(seen.values, seen.owner, seen.problem, seen.seen_at, is_newer_than_scan=True)


def _seen(lake: str, db: str, table: str) -> PolicySnapshot | None:
    return PolicySnapshot.objects.filter(lake=lake, db=db, table=table).first()


def asker_of(user: User, found: TableFinding) -> Asker:
    """Say what a person is to a table of the current picture, as the rules take it."""
    names = {user.username, *user.stands_for.get(found.lake, ())}
    owns = bool(names & {found.owner, found.db_owner})
    return Asker(
        user.is_lake_admin_of(found.lake), owns or found.db in user.administered.get(found.lake, ())
    )


def may_answer(user: User, row: TableFinding) -> bool:
    """Whether a person may answer for a table: an admin, or who owns or administers it.

    The rule of `asker_of` for many rows: it asks the database nothing that the user's rights have
    not read.
    """
    if user.is_lake_admin_of(row.lake):
        return True
    names = {user.username, *user.stands_for.get(row.lake, ())}
    is_owner = row.owner in names or row.db_owner in names
    return is_owner or row.db in user.administered.get(row.lake, ())


def is_written_to(lake: str, db: str) -> bool:
    """Whether the portal writes to a database at all: not while it is observed."""
    return mode_of(lake, db) is not DatabaseMode.OBSERVE


def changes_of(lake: str, db: str, table: str = "") -> QuerySet[AuditEvent]:
    """Return the recorded changes of a table's policy and owner (or a database's), in any order."""
    kind, name = ("table", f"{db}.{table}") if table else ("database", db)
    return AuditEvent.objects.filter(
        lake=lake, object_type=kind, object_id=name, action__in=CHANGES
    )


def last_change(lake: str, db: str, table: str) -> AuditEvent | None:
    """Return the newest recorded change of a table's LEVEL or TTL; the portal's own goes first."""
    rows = changes_of(lake, db, table).filter(action=CHANGES[0]).order_by("-seq")
    kept = without_echoes(sorted(rows[:_LOOKED_AT], key=lambda event: event.seq))
    return kept[-1] if kept else None


def without_echoes(events: Sequence[AuditEvent]) -> list[AuditEvent]:
    """Leave out what the metastore's guard told of the portal's own changes.

    The portal records who asked; the guard then tells of the same change under the portal's user.
    One note is left out for one change of the portal's, and only when both are minutes apart.
    """
    repeated = echoes(
        [
            Report(event.object_id, *values_changed(event), happened_at(event), is_own(event))
            for event in events
        ]
    )
    return [event for position, event in enumerate(events) if position not in repeated]


def asked_here(lake: str, db: str, table: str, after: Mapping[str, str], *, at: datetime) -> bool:
    """Whether somebody asked in the portal for LEVEL and TTL to become what they became at `at`.

    The run writes first and records then, so one that is under way counts like one that ended
    minutes before. What is changed to the same values later is somebody else's change.
    """
    policy = read_policy(after)
    since, ended_since = at - _ASKED_BEFORE, at - ECHO_WITHIN
    values = {"level": policy.level, "ttl": policy.ttl}
    requests = PolicyRequest.objects.filter(
        lake=lake,
        db=db,
        table=table,
        kind=RequestKind.SET,
        created_at__gte=since,
        **values,
    ).filter(Q(state=RequestState.RUNNING) | Q(state=RequestState.DONE, ended_at__gte=ended_since))
    items = EnrollmentItem.objects.filter(
        enrollment__lake=lake, enrollment__created_at__gte=since, db=db, table=table
    )
    enrolled = items.filter(
        Q(enrollment__state=EnrollmentState.RUNNING)
        | Q(enrollment__state=EnrollmentState.DONE, enrollment__ended_at__gte=ended_since),
        **{f"enrollment__{name}": value for name, value in values.items()},
    )
    undone = items.filter(
        Q(enrollment__state=EnrollmentState.UNDOING)
        | Q(enrollment__state=EnrollmentState.UNDONE, enrollment__ended_at__gte=ended_since),
        before__isnull=False,
    )
    return (
        requests.exists()
        or enrolled.exists()
        or any(before == dict(after) for before in undone.values_list("before", flat=True))
    )


def values_changed(event: AuditEvent) -> tuple[Values | None, Values | None]:
    """Return LEVEL and TTL before and after a recorded change, as far as it says."""
    before, after = ("from", "to") if is_own(event) else ("before", "after")
    return values_in(event, before), values_in(event, after)


def happened_at(event: AuditEvent) -> datetime:
    """Return when a recorded change was made; the follower may record a note of it much later."""
    told = parse_datetime(str(event.data.get("happened_at") or ""))
    return event.at if told is None else told


def is_own(event: AuditEvent) -> bool:
    """Whether a change was made through the portal."""
    return bool(event.data.get("through") == "portal")


def values_in(event: AuditEvent, key: str) -> Values | None:
    """Read LEVEL and TTL out of an event: as numbers, or as the parameters themselves."""
    said = event.data.get(key)
    if not isinstance(said, dict):
        return None
    if {"level", "ttl"} <= said.keys() and not any(isinstance(one, str) for one in said.values()):
        return Values(said["level"], said["ttl"])
    policy = read_policy({str(name): str(value) for name, value in said.items()})
    return Values(policy.level, policy.ttl)


def hand_over_warning(lake: str, db: str, table: str, owner: str) -> str:
    """Say what a new owner would mean for the path rules; empty where nothing would break."""
    found = TableFinding.objects.current(lake).filter(db=db, table=table).first()
    if found is None:
        return ""
    setting = DatabaseSetting.objects.filter(lake=found.lake, db=found.db).first()
    config = get_lake(found.lake)
    try:
        location = config.path(found.location)
        template = Template.parse(
            (setting.template if setting else "") or DEFAULT_TEMPLATE,
            default_fs=config.default_fs,
            aliases=config.aliases,
        )
    except RuleViolation:
        return ""
    if template.holds(location, owner):
        return ""
    return (
        f"Its path is not where {owner} may keep data, so it would break the path rule "
        f"{Reason.OWNER_PATH_FAIL}: the next scans report it, and nothing of it is cleaned until "
        "it is moved or the rule is waived."
    )


@dataclass(frozen=True, slots=True)
class Change:
    """One recorded change, as a person reads it."""

    at: datetime
    actor: str
    before: str
    after: str
    reason: str
    by_portal: bool
    request: str
    enrollment: str
    seq: int


def policy_history(lake: str, db: str, table: str = "", *, limit: int = 50) -> list[Change]:
    """Return the newest changes of a table's policy and owner, newest first.

    Without a table: of what new tables of a database get, and of its notice and backup days.
    """
    newest = changes_of(lake, db, table).order_by("-seq")[:limit]
    kept = without_echoes(sorted(newest, key=lambda event: event.seq))
    if not table:
        days = AuditEvent.objects.filter(
            lake=lake, object_type="database", object_id=db, action=DAYS_CHANGED
        )
        kept += days.order_by("-seq")[:limit]
    newest_first = sorted(kept, key=lambda event: -event.seq)
    return [_change(event) for event in newest_first[:limit]]


def _change(event: AuditEvent) -> Change:
    own = is_own(event)
    return Change(
        at=event.at,
        actor=event.actor,
        before=_said(event, "from" if own else "before"),
        after=_said(event, "to" if own else "after"),
        reason=str(event.data.get("reason") or ""),
        by_portal=own,
        request=str(event.data.get("request") or ""),
        enrollment=str(event.data.get("enrolment") or ""),
        seq=event.seq,
    )


def _said(event: AuditEvent, key: str) -> str:
    """Say recorded values in words."""
    said = event.data.get(key)
    if isinstance(said, dict) and "owner" in said:
        return f"owner {said['owner'] or 'nobody'}"
    if isinstance(said, dict) and "notice_days" in said:
        return str(Days(said["notice_days"], said["backup_days"]))
    values = values_in(event, key)
    return "unknown" if values is None else str(values)
