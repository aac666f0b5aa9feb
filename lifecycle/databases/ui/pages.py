"""The pages of databases: how far each is trusted, what OBSERVE would have done, changing it."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.domain.modes import DatabaseMode, can_change
from lifecycle.core.selectors.filters import DATABASE_ORDERS, DatabaseFilterSet
from lifecycle.core.ui.links import database_policy_url, database_url, list_url, shadow_url
from lifecycle.databases.selectors.dry_run import dry_run_of, dry_run_summary
from lifecycle.databases.services.modes import ModeChange, database_mode_change
from lifecycle.drop.selectors.plans import plans_stopped_by
from lifecycle.inventory.selectors.findings import (
    complete_databases,
    current_generation,
    databases_visible,
    get_database_for_user,
    mode_of,
)
from lifecycle.inventory.selectors.policy import database_policy
from lifecycle.models import DatabaseFinding
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

CONSEQUENCES = {
    DatabaseMode.OBSERVE: "Nobody is written to any more and nothing of it can be planned.",
    DatabaseMode.NOTIFY: "Owners are written to a week ahead; nothing can be dropped.",
    DatabaseMode.ACT: "Drop plans may name its data; each still needs two approvals.",
}


def _url(row: DatabaseFinding) -> str:
    return database_url(row.lake, row.db)


def _tables(show: str) -> Callable[[DatabaseFinding], str]:
    def url(row: DatabaseFinding) -> str:
        return list_url("expiring", row.lake, db=row.db, **({"show": show} if show else {}))

    return url


DATABASES = ListSpec(
    template="lifecycle/databases.html",
    caption="Databases and their modes",
    columns=(
        Column(key="db", title="Database", kind="code", sort="name", url=_url),
        Column(key="mode_now", title="Mode", kind="state"),
        Column(key="owner", title="Owner", sort="owner"),
        Column(key="n_tables", title="Tables", kind="count", url=_tables("")),
        Column(key="n_partitions", title="Partitions", kind="count"),
        Column(key="n_clean_now", title="Due", kind="count", url=_tables("CLEAN_NOW")),
        Column(key="bytes_clean_now", title="Size due now", kind="bytes", sort="size"),
        Column(key="n_soon", title="Due soon", kind="count", url=_tables("SOON")),
        Column(
            key="reasons",
            title="Path rules",
            kind="template",
            template="lifecycle/_cell_database_rules.html",
        ),
    ),
    orders=DATABASE_ORDERS,
    filename="databases.csv",
    exports=(
        "db", "mode_now", "owner", "location", "n_tables", "n_partitions", "n_clean_now",
        "bytes_clean_now", "n_soon", "bytes_soon", "reasons", "n_paths_below",
    ),
)  # fmt: skip


@require_GET
def databases(request: HttpRequest) -> HttpResponseBase:
    """List the databases with their modes."""
    lake, user = current_lake(request), person(request)
    filterset = DatabaseFilterSet(request.GET, queryset=databases_visible(lake, user))
    context = {"generation": current_generation(lake)}
    return list_response(
        request,
        DATABASES,
        filterset=filterset,
        context=context,
        complete=partial(complete_databases, user=user),
    )


@require_GET
def database(request: HttpRequest, db: str) -> HttpResponse:
    """Show one database: its mode, its shadow record, and to an admin the way on."""
    lake, user = current_lake(request), person(request)
    found = get_database_for_user(lake, db, user=user)
    mode = mode_of(lake, db)
    complete_databases([found], user=user)
    context = {
        "generation": current_generation(lake),
        "found": found,
        "mode": mode,
        "shadow": dry_run_summary(dry_run_of(lake, db)),
        "shadow_url": shadow_url(lake, db),
        "policy": database_policy(lake, db),
        "policy_url": database_policy_url(lake, db),
        "tables_url": list_url("expiring", lake, db=db),
        "paths_url": list_url("paths", lake, db=db),
        "n_stopped": plans_stopped_by(lake, db) if mode is DatabaseMode.ACT else 0,
        "moves": [
            {"wanted": wanted, "consequence": CONSEQUENCES[wanted]}
            for wanted in DatabaseMode
            if user.is_lake_admin_of(lake) and can_change(mode, wanted)
        ],
    }
    return render(request, "lifecycle/database.html", context)


@require_POST
def database_mode(request: HttpRequest, db: str) -> HttpResponseRedirect:
    """Move a database to another mode."""
    lake, user = current_lake(request), person(request)
    get_database_for_user(lake, db, user=user)
    change = ModeChange(
        lake=lake,
        db=db,
        seen=_mode(request.POST.get("seen", "")),
        wanted=_mode(request.POST.get("wanted", "")),
        reason=request.POST.get("reason", ""),
    )
    database_mode_change(change, user=user, now=timezone.now())
    messages.success(request, f"{db} is in {change.wanted.label} now. The next scan follows it.")
    return HttpResponseRedirect(database_url(lake, db))


def _mode(text: str) -> DatabaseMode:
    try:
        return DatabaseMode(text)
    except ValueError:
        raise RuleViolation("mode.unknown", f"{text!r} is no mode.", value=text) from None
