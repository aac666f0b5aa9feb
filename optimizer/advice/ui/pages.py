"""Pages of advice: the inbox of a lake, one advice with its evidence, and what is decided on it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from optimizer.advice.domain.states import AdviceState
from optimizer.advice.selectors import (
    ADVICE_ORDERS,
    AdviceFilter,
    advice_visible,
    cube_of,
    evidence_for,
    get_advice_for_user,
    trials_of,
)
from optimizer.advice.services.decisions import advice_apply, advice_dismiss, advice_roll_back
from optimizer.advice.services.requests import advice_request
from optimizer.advice.services.trials import trial_request
from optimizer.advice.ui.addresses import advice_tab_url, advice_url
from optimizer.advice.ui.trial_charts import told_filters, trial_charts
from optimizer.core.ui.columns import cell
from optimizer.iceberg.indexing.selectors import policy_of
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.policies.services.policies import policy_may_set
from optimizer.queries.selectors import queries_lately
from optimizer.trino_table.selectors import table_status
from portal.access.registry import Page, register_page
from portal.ui.charts.figures import Axes, Chart, bar_chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

OPTIONS_DRAWN = 8
TRIALS_SHOWN = 10
CATALOG = "lake"
"""The name of the lake's catalog in the settings that are shown."""
ADVICE_LIST = ListSpec(
    template="optimizer/advice.html",
    caption="Advice on tables of the lake",
    columns=(
        Column(key="table", title="Table", kind="code", url=advice_url),
        cell("State", "advice_state"),
        cell("Change", "advice_what"),
        cell("Expected", "advice_expected", sort="expected"),
        cell("Trial", "advice_trial"),
        cell("Measured", "advice_measured"),
        Column(key="bytes_a_day", title="Planned a day", kind="bytes", sort="planned"),
        Column(key="n_scans", title="Scans", kind="count"),
        Column(key="made_at", title="Made", kind="ago", sort="made"),
        Column(key="decided_by", title="Decided by", shown_from="tablet"),
    ),
    orders=ADVICE_ORDERS,
    filename="advice.csv",
    exports=(
        "table.lake", "table", "state", "subject", "proposed", "before", "expected", "measured",
        "n_before", "n_after", "bytes_a_day", "rewrite_bytes", "n_scans", "n_days", "made_at",
        "confirmed_at", "decided_by", "decided_at", "reason", "applied_at", "trial_state",
    ),
)  # fmt: skip


@require_GET
def advice(request: HttpRequest) -> HttpResponseBase:
    """List the advice on tables that the person may see."""
    lake = current_lake(request)
    rows = advice_visible(lake, person(request))
    filterset = AdviceFilter(request.GET, queryset=rows)
    context = {
        "engines": queries_lately(lake, now=timezone.now()),
        "trino_table": table_status(lake, person(request)),
        "catalog": CATALOG,
        "trino_url": request.build_absolute_uri(
            reverse("optimizer-hook:trino-queries", args=[lake, CATALOG])
        ),
    }
    return list_response(request, ADVICE_LIST, filterset=filterset, context=context)


@require_GET
def shown(request: HttpRequest, advice_id: int) -> HttpResponse:
    """Show one advice: what it expects, what it stands on, what was measured."""
    user = person(request)
    row = get_advice_for_user(advice_id, user)
    evidence = evidence_for(row, user)
    trials = list(trials_of(row)[:TRIALS_SHOWN])
    context: dict[str, Any] = {
        "advice": row,
        "iceberg": row.table,
        "evidence": evidence,
        "scans": _told(evidence.get("shapes", ())),
        "charts": _charts(evidence, is_new=row.state == AdviceState.NEW),
        "cube": cube_of(row),
        "trial": trials[0] if trials else None,
        "trials_before": trials[1:],
        "trial_charts": trial_charts(trials[0]) if trials else [],
        "trial_shapes": _told(trials[0].shape_rows) if trials else [],
        "tab_url": advice_tab_url(row.table),
        "is_on": policy_of(row.table).policy.is_on,
        "may_decide": policy_may_set(row.table.lake, str(row.table).lower(), user),
    }
    return render(request, "optimizer/advice_shown.html", context)


def _told(shapes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "filters": told_filters(one["filters"])} for one in shapes]


@require_POST
def ask(request: HttpRequest, table_id: int) -> HttpResponse:
    """Have a table's recorded scans looked at now, and lead to the run."""
    user = person(request)
    run = advice_request(get_table_for_user(table_id, user), user=user, now=timezone.now())
    return HttpResponseRedirect(reverse("ui:run", args=[run.pk]))


def _charts(evidence: dict[str, Any], *, is_new: bool) -> list[Chart]:
    options = evidence.get("options") or []
    now = evidence.get("now")
    if now is None or not options:
        return []
    lines = [("as rows lie now" if is_new else "as rows lay then", now)]
    lines += [(one["layout"], one["share"]) for one in options[:OPTIONS_DRAWN]]
    return [
        bar_chart(
            "layouts",
            title="Files that queries like the recorded ones open, by layout",
            labels=[name for name, _ in lines],
            series={"opened": [round(100 * share, 2) for _, share in lines]},
            axes=Axes("Layout", "Files opened, %"),
            is_across=True,
        )
    ]


def _decided(service: Callable[..., object], done: str) -> Callable[..., HttpResponse]:
    """Return the view that does what a person decides, with a reason."""

    @require_POST
    def view(request: HttpRequest, advice_id: int) -> HttpResponse:
        user = person(request)
        row = get_advice_for_user(advice_id, user)
        service(row, user=user, reason=request.POST.get("reason", ""), now=timezone.now())
        messages.success(request, done)
        return HttpResponseRedirect(advice_url(row))

    return view


apply = _decided(advice_apply, "It is applied. The optimizer does the rest in its own time.")
dismiss = _decided(advice_dismiss, "Dismissed. It comes again on new evidence alone.")
roll_back = _decided(advice_roll_back, "It is taken back; files stay as they lie.")


@require_POST
def try_it(request: HttpRequest, advice_id: int) -> HttpResponse:
    """Have the layout tried on a branch, and lead to the run."""
    user = person(request)
    row = get_advice_for_user(advice_id, user)
    reason = request.POST.get("reason", "")
    trial = trial_request(row, user=user, reason=reason, now=timezone.now())
    return HttpResponseRedirect(reverse("ui:run", args=[trial.run]))


def register_advice_pages() -> None:
    """Add the navigation."""
    also = {f"optimizer:{name}" for name in ("advice-shown", "scans", "top-shapes", "top-shape")}
    register_page(Page("services", "Advice", "optimizer:advice", 37, also=frozenset(also)))
