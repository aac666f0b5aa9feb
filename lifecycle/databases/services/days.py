"""Sets the notice and backup days of a database. An admin does so and gives the reason."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from lifecycle.core.domain.days import Days, check_days
from lifecycle.inventory.selectors.policy import DAYS_CHANGED
from lifecycle.models import DatabaseSetting
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.names import check_identifier
from portal.lake.reasons import check_reason


@dataclass(frozen=True)
class DaysChange:
    """What an admin asks for; `seen` are the days that stood on the page."""

    lake: str
    db: str
    seen: Days
    wanted: Days
    reason: str


def database_days_change(change: DaysChange, *, user: User, now: datetime) -> DatabaseSetting:
    """Set how far ahead owners are told and how long backups are kept, from now on.

    Backups that are there keep the days they were made with. Called twice, the second call is
    StaleState; what changes nothing is recorded nowhere.

    Raises:
        NotAllowed: `days.role` for anyone but an admin.
        RuleViolation: `days.reason` without a reason, `days.notice` and `days.backup` out of
            bounds, `name.grammar` for a name on which the portal never acts.
        StaleState: `days.changed` when somebody was first.
    """
    if not user.is_lake_admin_of(change.lake):
        raise NotAllowed("days.role", "Only an admin sets the days of a database.")
    check_reason(change.reason, "days.reason", "Enter a reason; it is kept in the audit record.")
    check_identifier(change.db, kind="database")
    check_days(change.wanted)
    with transaction.atomic():
        setting, _ = DatabaseSetting.objects.select_for_update().get_or_create(
            lake=change.lake, db=change.db
        )
        standing = Days(setting.notice_days, setting.backup_days)
        if standing != change.seen:
            raise StaleState(
                "days.changed", f"{change.db} has other days by now ({standing}); reload the page."
            )
        if standing == change.wanted:
            return setting
        setting.notice_days, setting.backup_days = change.wanted.notice, change.wanted.backup
        setting.save(update_fields=["notice_days", "backup_days"])
        audit_record(
            DAYS_CHANGED,
            actor=user.username,
            lake=change.lake,
            object_type="database",
            object_id=change.db,
            data={
                "from": {"notice_days": standing.notice, "backup_days": standing.backup},
                "to": {"notice_days": change.wanted.notice, "backup_days": change.wanted.backup},
                "reason": change.reason.strip(),
                "through": "portal",
            },
            now=now,
        )
    return setting
