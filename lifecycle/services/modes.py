"""How is a database trusted with more, or with less? One step up at a time, with a reason."""

from datetime import datetime

from django.db import transaction

from lifecycle.domain.modes import DatabaseMode, can_change
from lifecycle.models import DatabaseSetting
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation, StaleState


def database_mode_change(
    lake: str,
    db: str,
    *,
    wanted: DatabaseMode,
    expected: DatabaseMode,
    reason: str,
    user: User,
    now: datetime,
) -> DatabaseSetting:
    """Move a database to another mode; for admins, who say why.

    `expected` is the mode the admin saw. Called twice, the second call is StaleState.

    Raises:
        NotAllowed: `mode.role` for anyone but an admin.
        RuleViolation: `mode.reason` without a reason, `mode.step` for a jump from OBSERVE to ACT.
        StaleState: `mode.changed` when somebody was first.
    """
    if not user.is_lake_admin:
        raise NotAllowed("mode.role", "Only an admin moves a database to another mode.")
    if not reason.strip():
        raise RuleViolation("mode.reason", "Say why; the reason stands in the audit record.")
    if not can_change(expected, wanted):
        raise RuleViolation(
            "mode.step",
            f"{db} cannot go from {expected} to {wanted} at once; its owners must have been "
            "written to in NOTIFY first.",
            db=db,
        )
    with transaction.atomic():
        setting, _ = DatabaseSetting.objects.select_for_update().get_or_create(lake=lake, db=db)
        if setting.mode != expected:
            raise StaleState(
                "mode.changed", f"{db} is in {setting.mode} by now; look again.", db=db
            )
        setting.mode = wanted
        setting.save(update_fields=["mode"])
        audit_record(
            "database.mode_changed",
            actor=user.username,
            lake=lake,
            object_type="database",
            object_id=db,
            data={"from": expected.value, "to": wanted.value, "reason": reason.strip()},
            now=now,
        )
    return setting
