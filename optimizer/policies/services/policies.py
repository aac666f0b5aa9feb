"""Sets what is done to a table, to a pattern of tables, or to a whole lake.

Whoever answers for a table sets its own policy; admins set those of databases, patterns and lakes.
Each change is a new version with a reason; of two people at once the second is told to look again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from optimizer.iceberg.rewrite.domain.layouts import Layout
from optimizer.models import HudiTable, IcebergTable, PolicyVersion
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.domain.policy import Level, LevelKind, kind_of_scope
from optimizer.policies.domain.values import write_values
from optimizer.policies.selectors.policies import levels_of, policy_current
from optimizer.policies.selectors.scopes import TABLES
from optimizer.policies.services.columns import check_indexes, check_layout
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_text

MAX_REASON = 1000


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """What a person asks for; `seen` is the version that stood on the page, 0 for none.

    `values` are all fields that the scope shall name, in their JSON form; none takes it back to
    what it inherits.
    """

    lake: str
    scope: str
    values: Mapping[str, object]
    seen: int
    reason: str
    table_format: TableFormat = TableFormat.ICEBERG


def policy_set(change: PolicyChange, *, user: User, now: datetime) -> PolicyVersion:
    """Set the policy of a scope; the same change twice is StaleState the second time.

    Raises:
        NotVisible: `policy.table` for a table that is not there or not theirs to see.
        NotAllowed: `policy.role` for a scope that they do not answer for.
        RuleViolation: `policy.scope`, `policy.why`, `policy.same`, a value that is none, columns
            that the table lacks, or `policy.contradiction` with what it would inherit.
        StaleState: `policy.changed` when somebody was first.
    """
    level, reason = policy_meant(change, user=user), change.reason.strip()
    scope = level.scope
    if not reason or len(reason) > MAX_REASON:
        raise RuleViolation(
            "policy.why",
            f"Enter a reason, in at most {MAX_REASON} letters; it is kept in the history.",
        )
    check_text(reason)
    values = write_values(level.values)
    with transaction.atomic():
        before = policy_current(change.lake, scope, change.table_format)
        _check_seen(before, change.seen, scope)
        if values == (before.values if before else {}):
            raise RuleViolation(
                "policy.same", f"Nothing would change: {scope} has these values already."
            )
        made = _replaced(before, change, scope=scope, values=values, by=user.username, at=now)
        if level.kind is LevelKind.TABLE:
            _look_again(change, scope, now=now)
        audit_record(
            "optimizer.policy_changed",
            actor=user.username,
            lake=change.lake,
            object_type="optimizer_policy",
            object_id=scope,
            data={
                "format": change.table_format.value,
                "version": made.version,
                "from": before.values if before else {},
                "to": values,
                "reason": reason,
            },
            now=now,
        )
    return made


def _look_again(change: PolicyChange, scope: str, *, now: datetime) -> None:
    """Have a table inspected by its new policy: one that nobody writes would never be."""
    db, _, name = scope.partition(".")
    named = TABLES[change.table_format].objects.filter(lake=change.lake, db=db, table=name)
    named.filter(is_deleted=False, inspected_at__isnull=False).update(inspect_due_at=now)


def policy_meant(change: PolicyChange, *, user: User) -> Level:
    """Read a change without its reason, and refuse what `policy_set` would; nothing is kept.

    Raises:
        As `policy_set`, without `policy.why`, `policy.same` and StaleState.
    """
    scope = change.scope.strip().lower()
    table = policy_allowed(change.lake, scope, user, change.table_format)
    level = Level(scope, POLICY_SCHEMAS[change.table_format].read(change.values))
    _check_meant(change, level, table, user=user)
    return level


def policy_may_set(
    lake: str, scope: str, user: User, table_format: TableFormat = TableFormat.ICEBERG
) -> bool:
    """Say whether a person answers for a scope."""
    try:
        policy_allowed(lake, scope, user, table_format)
    except (NotAllowed, NotVisible):
        return False
    return True


def policy_allowed(
    lake: str, scope: str, user: User, table_format: TableFormat = TableFormat.ICEBERG
) -> IcebergTable | HudiTable | None:
    """Return the table where the scope is one; refuse who does not answer for the scope.

    Raises:
        RuleViolation: `policy.scope`; NotVisible: `policy.table`; NotAllowed: `policy.role`.
    """
    kind = kind_of_scope(scope)
    if kind is not LevelKind.TABLE:
        if user.is_lake_admin_of(lake) or (
            kind is LevelKind.DATABASES and scope in user.administered.get(lake, [])
        ):
            return None
        raise NotAllowed(
            "policy.role",
            "Only an admin sets the policy of a lake or of a pattern, and only an admin or the "
            "administrator of a database that of a database; ask one.",
        )
    db, _, name = scope.partition(".")
    wanted = TABLES[table_format].objects.filter(
        visible_to(user), lake=lake, db=db, table=name, is_deleted=False
    )
    found = wanted.order_by("-pk").first()
    if found is None:
        title = POLICY_SCHEMAS[table_format].title
        raise NotVisible("policy.table", f"There is no {title} table {scope} that you may see.")
    return found


def _check_meant(
    change: PolicyChange, level: Level, table: IcebergTable | HudiTable | None, *, user: User
) -> None:
    """Refuse settings that contradict what they stand under, or columns that are not there."""
    manners = POLICY_SCHEMAS[change.table_format]
    levels, _ = levels_of(change.lake, change.table_format)
    others = [one for one in levels if one.scope != level.scope]
    refused = manners.contradiction(manners.resolve_scope([*others, level], level.scope).policy)
    if refused is not None:
        raise refused
    layout = level.values.get("layout")
    if isinstance(table, IcebergTable) and table.columns and isinstance(layout, Layout):
        check_layout(table, layout, user=user)
    wanted = level.values.get("index_columns")
    if isinstance(table, IcebergTable) and table.columns and isinstance(wanted, tuple):
        check_indexes(table, wanted, user=user)


def _check_seen(before: PolicyVersion | None, seen: int, scope: str) -> None:
    stands = before.version if before else 0
    if stands != seen:
        by = f", set by {before.by}" if before else ""
        raise StaleState(
            "policy.changed",
            f"The policy of {scope} is at version {stands} by now{by}; reload the page.",
            scope=scope,
        )


def _replaced(
    before: PolicyVersion | None,
    change: PolicyChange,
    *,
    scope: str,
    values: dict[str, object],
    by: str,
    at: datetime,
) -> PolicyVersion:
    """Put the new version in the old one's place; the database lets only one of two do so."""
    try:
        with transaction.atomic():
            if before is not None:
                PolicyVersion.objects.filter(pk=before.pk).update(is_current=None)
            return PolicyVersion.objects.create(
                lake=change.lake,
                format=change.table_format,
                scope=scope,
                version=change.seen + 1,
                values=values,
                by=by,
                at=at,
                reason=change.reason.strip(),
            )
    except IntegrityError as error:
        raise StaleState(
            "policy.changed", f"Somebody changed the policy of {scope} just now; reload the page."
        ) from error
