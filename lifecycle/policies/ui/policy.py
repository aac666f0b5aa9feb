"""The pages of LEVEL and TTL: what stands, what would go under other values, who changed it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.core.selectors.database_days import backups_kept, days_of
from lifecycle.core.selectors.sent_notices import notices_of
from lifecycle.core.ui.links import database_policy_url, list_url, partitions_url
from lifecycle.expiry.domain.what_if import Ages
from lifecycle.expiry.selectors import ages_of, coming_weeks, table_what_if
from lifecycle.inventory.selectors.dropped import gone_since, take_off_dropped
from lifecycle.inventory.selectors.findings import (
    current_generation,
    get_database_for_user,
    get_table_for_user,
    mode_of,
)
from lifecycle.inventory.selectors.policy import (
    asker_of,
    database_policy,
    is_written_to,
    policy_history,
    table_policy,
)
from lifecycle.inventory.ui.expiring import LIFECYCLE, table_facts
from lifecycle.models import TableFinding
from lifecycle.policies.domain.policy import Asker, Route, Values, route_of_database, route_of_table
from lifecycle.policies.run_kinds import policy_inspection_request
from lifecycle.policies.selectors.requests import requests_visible
from lifecycle.policies.ui.forms import ValuesForm
from portal.lake.errors import NotAllowed, PortalError
from portal.ui.charts.figures import Axes, Chart, line_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.tables.addresses import moved_to_tab, table_path

REQUESTS_SHOWN = NOTICES_SHOWN = 10
LINE_WORDS = {
    "now": ("CLEAN_NOW", "due and unread: may be planned once its notice days have passed"),
    "still_read": (
        "STILL_READ",
        "due but read in the last 30 days: deleted only with the owner's consent",
    ),
    "unsure": ("UNKNOWN", "may be due; the scan did not read its files or cannot see reads"),
    "soon": ("SOON", "falls due soon"),
    "later": ("NOT_NOW", "falls due afterwards"),
    "stays": ("KEEP_FOREVER", "does not fall due by age: kept, held, not ready or left alone"),
}


@require_GET
def policy(request: HttpRequest, db: str, table: str) -> HttpResponse:
    """Lead to the tab of the table's page; show it here while the catalog has no such table."""
    return moved_to_tab(request, db, table, LIFECYCLE) or policy_page(request, db, table)


def policy_page(request: HttpRequest, db: str, table: str) -> HttpResponse:
    """Show what of a table is in which class, its policy, and what would go under other values."""
    lake, user = current_lake(request), person(request)
    found: Any = get_table_for_user(lake, db, table, user=user)
    take_off_dropped([found], gone_since(lake, db=db, table=table))
    standing = table_policy(found)
    asker = asker_of(user, found)
    form, wanted = _tried(request, standing.values)
    ages = ages_of(found)
    context = {
        **table_facts(found, now=timezone.now()),
        "policy_url": table_path(db, table, LIFECYCLE),
        "partitions_url": partitions_url(lake, db, table),
        "notices": notices_of(found, limit=NOTICES_SHOWN),
        "standing": standing,
        "form": form,
        "wanted": wanted,
        "history": policy_history(lake, db, table),
        "requests": requests_visible(lake, user)
        .filter(db=db, table=table)
        .order_by("-created_at")[:REQUESTS_SHOWN],
        "enrol_url": list_url("enrolment-new", lake, db=db, table=table),
        "may_enrol": user.is_lake_staff_of(lake),
        **_what_if(found, ages, before=standing.values, after=wanted),
        **_way(
            standing.values,
            wanted,
            asker,
            written_to=found.mode_now != DatabaseMode.OBSERVE,
        ),
    }
    return render(request, "lifecycle/policy.html", context)


@require_GET
def database_policy_page(request: HttpRequest, db: str) -> HttpResponse:
    """Show what new tables of a database get, and its notice and backup days."""
    lake, user = current_lake(request), person(request)
    found = get_database_for_user(lake, db, user=user)
    standing = database_policy(lake, db)
    form, wanted = _tried(request, standing.values)
    asker = Asker(user.is_lake_admin_of(lake), owns=False)
    way: dict[str, Any] = {"may_save": False, "blocked_reason": ""}
    if standing.is_known and wanted != standing.values:
        try:
            route_of_database(standing.values, wanted, asker)
            way = _saveable(written_to=is_written_to(lake, db))
        except PortalError as error:
            way["blocked_reason"] = error.message
    context = {
        "found": found,
        "generation": current_generation(lake),
        "mode": mode_of(lake, db),
        "standing": standing,
        "form": form,
        "wanted": wanted,
        "history": policy_history(lake, db),
        "requests": requests_visible(lake, user)
        .filter(db=db, table="")
        .order_by("-created_at")[:REQUESTS_SHOWN],
        "enrol_url": list_url("enrolment-new", lake, db=db),
        "may_enrol": user.is_lake_staff_of(lake),
        "may_look": user.is_lake_staff_of(lake),
        "days": days_of(lake, db),
        "kept": backups_kept(lake, db),
        "may_set_days": user.is_lake_admin_of(lake),
        **way,
    }
    return render(request, "lifecycle/policy_database.html", context)


@require_POST
def database_policy_look(request: HttpRequest, db: str) -> HttpResponseRedirect:
    """Have what new tables of a database get read from the metastore."""
    lake, user = current_lake(request), person(request)
    get_database_for_user(lake, db, user=user)
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("policy.look", "Admins and operators have the metastore read.")
    policy_inspection_request(lake, db, user=user, now=timezone.now())
    messages.info(request, "It is being read; reload this page in a moment.")
    return HttpResponseRedirect(database_policy_url(lake, db))


def _tried(request: HttpRequest, standing: Values) -> tuple[ValuesForm, Values]:
    """Return the form and the values that the address asks about; else those that stand."""
    if "level" not in request.GET:
        level = 1 if standing.level is None else standing.level
        return ValuesForm(initial={"level": level, "ttl": standing.ttl or 60}), standing
    form = ValuesForm(request.GET)
    return form, form.values if form.is_valid() else standing


def _what_if(found: TableFinding, ages: Ages, *, before: Values, after: Values) -> dict[str, Any]:
    what = table_what_if(found, ages, before=before, after=after)
    lines = [
        {"line": line, "state": LINE_WORDS[line.name][0], "words": LINE_WORDS[line.name][1]}
        for line in what.lines
        if line.before.n or line.after.n
    ]
    return {"what": what, "lines": lines, "chart": _chart(found, ages, before, after)}


def _chart(found: TableFinding, ages: Ages, before: Values, after: Values) -> Chart | None:
    """Draw what falls due week by week, under both values where they differ."""
    series = {"as it is": coming_weeks(found, ages, before)}
    if after != before:
        series[f"with {after}"] = coming_weeks(found, ages, after)
    weeks = [at for at, _ in next(iter(series.values()))]
    numbers = {name: [amount.n for _, amount in points] for name, points in series.items()}
    if not any(any(values) for values in numbers.values()):
        return None
    return line_chart(
        "weeks",
        title="Falling due in the coming weeks (partitions and tables, by the clocks of the scan)",
        labels=[f"{timezone.localtime(at):%Y-%m-%d}" for at in weeks],
        series=numbers,
        axes=Axes("Week from", "Partitions and tables"),
    )


def _way(before: Values, after: Values, asker: Asker, *, written_to: bool) -> dict[str, Any]:
    """Say whether and how the tried values can be saved, or why they cannot."""
    if before == after:
        return {"may_save": False, "blocked_reason": ""}
    try:
        route = route_of_table(before, after, asker)
    except PortalError as error:
        needs_enrollment = error.code == "policy.enrol"
        return {
            "may_save": False,
            "blocked_reason": error.message,
            "needs_enrollment": needs_enrollment,
        }
    return {**_saveable(written_to=written_to), "asks_admin": route is Route.ONE_ADMIN}


def _saveable(*, written_to: bool) -> dict[str, Any]:
    if written_to:
        return {"may_save": True, "blocked_reason": ""}
    return {
        "may_save": False,
        "blocked_reason": "The database is in Monitor only: the portal writes nothing to it, so "
        "this is a what-if only. An admin sets it to Notify on its page.",
    }
