"""The tab of a Hudi table's policy, every setting with the scope that says so, and its form."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods

from optimizer.hudi.inspect.selectors.snapshots import hudi_policy_of, last_inspection
from optimizer.hudi.pages.ui.nav import frame_of
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from optimizer.models import HudiTable
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.domain.hudi_policy import FIELDS
from optimizer.policies.domain.hudi_values import SETTINGS, write_policy
from optimizer.policies.domain.policy import BUILT_IN
from optimizer.policies.domain.words import say
from optimizer.policies.selectors.scopes import (
    scope_of_table,
    table_names,
)
from optimizer.policies.ui.actions import settings_of as settings_by_scope
from optimizer.policies.ui.policies import scope_page
from portal.lake.errors import NotVisible
from portal.ui.frame.context import person


@dataclass(frozen=True, slots=True)
class HudiSetting:
    """One setting as it holds, in words, and the scope that says so."""

    title: str
    words: str
    help: str
    scope: str
    is_own: bool
    is_built_in: bool


@require_GET
def policy(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show what holds for the table."""
    table = get_hudi_for_user(table_id, person(request))
    shown = {"settings": settings_of(table)}
    return render(
        request, "optimizer/hudi_policy.html", frame_of(table, last_inspection(table), shown)
    )


def settings_of(table: HudiTable) -> list[HudiSetting]:
    """Return every setting of a table as it resolves now."""
    found, own = hudi_policy_of(table), str(table).lower()
    values = write_policy(found.policy)
    return [
        HudiSetting(
            SETTINGS[name][0],
            say(name, values[name]),
            SETTINGS[name][1],
            found.sources[name],
            is_own=found.sources[name] == own,
            is_built_in=found.sources[name].startswith(BUILT_IN),
        )
        for name in FIELDS
    ]


@require_http_methods(["GET", "POST"])
def policy_form(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show the form of one Hudi table's policy, whether or not it has settings of its own."""
    user, about = person(request), TableFormat.HUDI
    table = get_hudi_for_user(table_id, user)
    scope = None if table.is_deleted else scope_of_table(table)
    if scope is None:
        raise NotVisible(
            "policy.table",
            f"The policy of {table} alone cannot be set: it is gone, or its name has signs that a "
            "scope cannot have. Set one for its database.",
        )
    names = table_names(table.lake, user, about)
    return scope_page(
        request,
        table.lake,
        scope,
        names,
        about,
        settings=settings_by_scope(table),
        back=request.path,
    )
