"""The path rules of a lake as people have set them, in the form that jobs read."""

from datetime import datetime
from typing import Any

from lifecycle.models import DatabaseSetting
from lifecycle.rules.selectors.exceptions import exceptions_standing
from portal.access.lakes import get_lake
from portal.lake.clock import day_of


def path_rules(lake: str, *, now: datetime) -> dict[str, Any]:
    """Return each database's settings, the exceptions that count, and where backups lie."""
    config = get_lake(lake)
    granted = exceptions_standing(lake, today=day_of(now, config.zone))
    return {
        "databases": _databases(lake),
        "waivers": [
            {"db": row.db, "table": row.table, "reason": row.rule, "until": row.until.isoformat()}
            for row in granted
        ],
        "backup_roots": list(config.backup_roots),
    }


def _databases(lake: str) -> dict[str, dict[str, Any]]:
    fields = ("db", "mode", "template", "notice_days", "backup_days")
    rows = DatabaseSetting.objects.filter(lake=lake).values(*fields)
    return {row.pop("db"): dict(row) for row in rows}
