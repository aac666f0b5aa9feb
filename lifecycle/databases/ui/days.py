"""The step of an admin who sets how far ahead owners are told and how long backups are kept."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from lifecycle.core.domain.days import Days
from lifecycle.core.ui.links import database_policy_url
from lifecycle.databases.services.days import DaysChange, database_days_change
from lifecycle.inventory.selectors.findings import get_database_for_user
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import current_lake, person

_MOST_SIGNS = 5


@require_POST
def database_days(request: HttpRequest, db: str) -> HttpResponseRedirect:
    """Set the days of a database."""
    lake, user = current_lake(request), person(request)
    get_database_for_user(lake, db, user=user)
    change = DaysChange(
        lake=lake,
        db=db,
        seen=Days(_number(request, "seen_notice_days"), _number(request, "seen_backup_days")),
        wanted=Days(_number(request, "notice_days"), _number(request, "backup_days")),
        reason=request.POST.get("reason", ""),
    )
    database_days_change(change, user=user, now=timezone.now())
    messages.success(request, f"From now on for {db}: {change.wanted}.")
    return HttpResponseRedirect(database_policy_url(lake, db))


def _number(request: HttpRequest, name: str) -> int:
    text = request.POST.get(name, "").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_SIGNS):
        raise RuleViolation("days.number", "Days are whole numbers; correct them and try again.")
    return int(text)
