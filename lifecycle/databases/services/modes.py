"""Changes the mode of a database. It rises one step at a time, with a reason."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from lifecycle.core.domain.modes import DatabaseMode, can_change
from lifecycle.models import DatabaseSetting
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.names import check_identifier
from portal.lake.reasons import check_reason


@dataclass(frozen=True)
class ModeChange:
    """What an admin asks for; `seen` is the mode that stood on the page."""

    lake: str
    db: str
    seen: DatabaseMode
    wanted: DatabaseMode
    reason: str


def database_mode_change(change: ModeChange, *, user: User, now: datetime) -> DatabaseSetting:
    """Move a database to another mode; for admins, who say why.

    Called twice, the second call is StaleState.

    Raises:
        NotAllowed: `mode.role` for anyone but an admin.
        RuleViolation: `mode.reason` without a reason, `mode.step` for a jump from OBSERVE to ACT,
            `name.grammar` for a name on which the portal never acts.
        StaleState: `mode.changed` when somebody was first.
    """
    if not user.is_lake_admin_of(change.lake):
        raise NotAllowed("mode.role", "Only an admin moves a database to another mode.")
    check_reason(change.reason, "mode.reason", "Enter a reason; it is kept in the audit record.")
    check_identifier(change.db, kind="database")
    if not can_change(change.seen, change.wanted):
        raise RuleViolation(
            "mode.step",
            f"{change.db} cannot go from {change.seen.label} to {change.wanted.label} at once; its "
            "owners must have been notified in Notify first.",
            db=change.db,
        )
    with transaction.atomic():
        setting, _ = DatabaseSetting.objects.select_for_update().get_or_create(
            lake=change.lake, db=change.db
        )
        if setting.mode != change.seen:
            raise StaleState(
                "mode.changed",
                f"{change.db} is in {DatabaseMode(setting.mode).label} by now; reload the page.",
                db=change.db,
            )
        setting.mode = change.wanted
        setting.save(update_fields=["mode"])
        audit_record(
            "database.mode_changed",
            actor=user.username,
            lake=change.lake,
            object_type="database",
            object_id=change.db,
            data={
                "from": change.seen.value,
                "to": change.wanted.value,
                "reason": change.reason.strip(),
            },
            now=now,
        )
    return setting
