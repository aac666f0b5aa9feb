"""The tab of a Hudi table's policy: every setting that holds, and the scope that says so."""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from optimizer.domain.hudi.policy import FIELDS
from optimizer.domain.hudi.policy_values import SETTINGS, write_policy
from optimizer.domain.policy import BUILT_IN
from optimizer.domain.policy_words import say
from optimizer.models import HudiTable
from optimizer.selectors.hudi_looks import hudi_policy_of, last_look
from optimizer.selectors.hudi_tables import get_hudi_for_user
from optimizer.ui.hudi_frame import frame_of
from portal.ui.frame import person


@dataclass(frozen=True, slots=True)
class HudiSetting:
    """One setting as it holds, in words, and the scope that says so."""

    title: str
    words: str
    help: str
    scope: str
    is_own: bool
    is_built_in: bool


@login_required
@require_GET
def policy(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show what holds for the table."""
    table = get_hudi_for_user(table_id, person(request))
    shown = {"settings": settings_of(table)}
    return render(request, "optimizer/hudi_policy.html", frame_of(table, last_look(table), shown))


def settings_of(table: HudiTable) -> list[HudiSetting]:
    """Give every setting of a table as it resolves now."""
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
