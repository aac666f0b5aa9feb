"""The tab of a Hudi table's services: what is decided, what is pending, what may be asked."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.selectors.snapshots import hudi_policy_of, last_inspection
from optimizer.hudi.pages.ui.nav import frame_of
from optimizer.hudi.pages.ui.service_status import ServiceStatus, boards_of, decision_texts
from optimizer.hudi.pages.ui.tasks import now_of
from optimizer.hudi.planner.services.recent_runs import recent_activity_of
from optimizer.hudi.planner.services.speeds import HudiSpeeds
from optimizer.hudi.tables.selectors.resident import resident_run, watched_tables
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from optimizer.models import HudiTable
from portal.ui.frame.context import person


@require_GET
def services(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show every service with its pending plans and its buttons, or why there is none."""
    table, now = get_hudi_for_user(table_id, person(request)), timezone.now()
    seen = last_inspection(table)
    shown = {
        "boards": _boards(table, seen.look, now) if seen.look else [],
        "decision_texts": decision_texts(table.decisions),
        **now_of(table),
        "staying": resident_run(table.lake) if table.pk in watched_tables(table.lake) else None,
        "may_act": not table.is_deleted and not table.is_paused,
    }
    return render(request, "optimizer/hudi_services.html", frame_of(table, seen, shown))


def _boards(table: HudiTable, look: HudiInspection, now: datetime) -> list[ServiceStatus]:
    policy, lately = hudi_policy_of(table).policy, recent_activity_of(table, look, now=now)
    expect = HudiSpeeds(table.lake).estimate
    return boards_of(look, policy, table.decisions, lately=lately, expect=expect, now=now)
