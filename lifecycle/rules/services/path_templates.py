"""Changes a database's path template, by which the locations of its owners' data are judged."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from lifecycle.models import DatabaseSetting
from lifecycle.rules.domain.templates import Template
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation
from portal.lake.names import check_identifier
from portal.lake.reasons import check_reason

MOST_CHARS = 512


@dataclass(frozen=True)
class TemplateChange:
    """What an admin asks for: a template such as `/warehouse/{owner}`, and why."""

    lake: str
    db: str
    template: str
    reason: str


def path_template_change(change: TemplateChange, *, user: User, now: datetime) -> DatabaseSetting:
    """Set a database's path template from the next scan on; for admins, who say why.

    Called twice with the same template, the second call changes and records nothing.

    Raises:
        NotAllowed: `template.role` for anyone but an admin.
        RuleViolation: `template.reason` without a reason, `template.placeholder`, `template.long`,
            `path.*`, or `name.grammar` for a database whose name the portal never acts on.
    """
    if not user.is_lake_admin_of(change.lake):
        raise NotAllowed("template.role", "Only an admin says where a database may be.")
    check_reason(
        change.reason, "template.reason", "Enter a reason; it is kept in the audit record."
    )
    check_identifier(change.db, kind="database")
    if len(change.template) > MOST_CHARS:
        raise RuleViolation("template.long", f"A template has at most {MOST_CHARS} signs.")
    config = get_lake(change.lake)
    Template.parse(change.template, default_fs=config.default_fs, aliases=config.aliases)
    with transaction.atomic():
        setting, _ = DatabaseSetting.objects.select_for_update().get_or_create(
            lake=change.lake, db=change.db
        )
        if setting.template == change.template:
            return setting
        before, setting.template = setting.template, change.template
        setting.save(update_fields=["template"])
        audit_record(
            "database.template_changed",
            actor=user.username,
            lake=change.lake,
            object_type="database",
            object_id=change.db,
            data={"from": before, "to": change.template, "reason": change.reason.strip()},
            now=now,
        )
    return setting
