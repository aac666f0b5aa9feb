"""Pages of current and past runs: their progress, log and cancellation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.selectors import run_waits
from portal.runs.requests.services import run_cancel
from portal.ui.forms import ReasonForm
from portal.ui.frame.context import current_lake, person
from portal.ui.frame.states import badge_for
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.filters import UNFINISHED, RunFilter, RunLineFilter, filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column
from portal.ui.run_steps import list_subject, read_causes, run_seconds, run_steps, run_subject
from portal.ui.selectors import get_run_for_user, run_counts, run_lines, runs_for_user
from portal.ui.views.driver_logs import cluster_log_url, driver_log_url, lost_log_days

ORDERS = {"-queued": ("-queued_at",), "queued": ("queued_at",)}
RUNS = ListSpec(
    template="portal/runs.html",
    caption="Runs",
    columns=(
        Column(key="id", title="Run", kind="template", template="portal/_run_name.html"),
        Column(key="", title="About", kind="template", template="portal/_run_subject.html"),
        Column(key="state", title="State", kind="state"),
        Column(
            key="", title="Requested by", kind="template", template="portal/_run_requested.html"
        ),
        Column(key="queued_at", title="Requested", kind="ago", sort="queued"),
        Column(key="seconds", title="Duration", kind="template", template="portal/_run_span.html"),
        Column(key="finished_at", title="Ended", kind="ago"),
        Column(key="message", title="Latest message"),
    ),
    orders=ORDERS,
    filename="runs.csv",
    exports=(
        "id", "kind", "state", "requested_by", "causes", "queued_at", "finished_at", "message",
        "subject_type", "subject_id", "seconds",
    ),
)  # fmt: skip
LINES, CHUNK = 200, 1_000
# A job's own lines are written down at its end and carry the instants at which they were said.
LINE_ORDERS = {"-at": ("-at", "-seq")}


@require_GET
def runs(request: HttpRequest) -> HttpResponseBase:
    """List the runs that the person may see, newest first; routine checks where asked for."""
    lake, user = current_lake(request), person(request)
    asked = request.GET.copy()
    leaves_out = user.is_lake_staff_of(lake) and not any(map(asked.get, RunFilter.base_filters))
    if leaves_out:
        asked["routine"] = "no"
    chosen = RunFilter(asked, queryset=runs_for_user(user, lake))
    spec = replace(RUNS, filename=f"runs-{lake}.csv")
    context = {
        "counts": run_counts(user, lake),
        "state": asked.get("state", ""),
        "leaves_out": leaves_out,
        "failed": RunState.FAILED.value,
        "unfinished": UNFINISHED,
    }
    return list_response(request, spec, filterset=chosen, context=context, complete=_complete)


@require_GET
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show one run: where it stands, what it said, what came of it."""
    found = get_run_for_user(run_id, person(request))
    read_causes([found])
    chosen = RunLineFilter(request.GET, queryset=run_lines(found))
    lines = keyset_page(filtered(chosen), request.GET, orders=LINE_ORDERS, size=LINES)
    context = {
        "run": found,
        "run_lives": not found.is_final,
        "waits": run_waits(found, now=timezone.now()),
        "filter": chosen,
        "lines": list(reversed(lines.rows)),
        "page": lines,
        "seconds": run_seconds(found, now=timezone.now()),
        "facts": _facts(found),
        "steps": run_steps(found, person(request)),
        "subject": run_subject(found),
        "may_cancel": may_cancel(found, person(request)),
        "driver_log": driver_log_url(found),
        "log_days": lost_log_days(found),
        "cluster_log": cluster_log_url(found),
    }
    return render(request, "portal/run.html", context)


@require_GET
def run_log(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Send the whole log of a run as a text file, the oldest line first."""
    found = get_run_for_user(run_id, person(request))
    lines = run_lines(found).order_by("at", "seq").values_list("at", "level", "text")
    text = (
        f"{at.isoformat()} {level.upper()} {words}\n"
        for at, level, words in lines.iterator(chunk_size=CHUNK)
    )
    answer = StreamingHttpResponse(text, content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="run-{found.pk}.log"'
    return answer


@require_GET
def run_progress(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Give the progress part of a run's page; at its end ask the browser to load the page again."""
    found = get_run_for_user(run_id, person(request))
    waits = run_waits(found, now=timezone.now())
    context = {"run": found, "run_lives": not found.is_final, "waits": waits}
    response = render(request, "ui/_progress.html", context)
    if found.is_final:
        response["HX-Refresh"] = "true"
    return response


@require_POST
def run_stop(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Ask a run to stop, with a reason."""
    found = get_run_for_user(run_id, person(request))
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was stopped: enter a reason.")
        return redirect("ui:run", run_id=run_id)
    stopped = run_cancel(
        found.pk, user=person(request), reason=form.cleaned_data["reason"], now=timezone.now()
    )
    if stopped.is_final:
        messages.success(request, "The run is cancelled.")
    else:
        messages.info(request, "The run will stop at its next safe point.")
    return redirect("ui:run", run_id=run_id)


def _complete(shown: Sequence[Any]) -> None:
    """Give each run of a list who caused it, how long it took, and what it is about."""
    read_causes(shown)
    now = timezone.now()
    for one in shown:
        one.seconds = run_seconds(one, now=now)
        one.about = list_subject(one)


def may_cancel(run: Run, user: User) -> bool:
    """Whether the page offers to cancel; the service decides again."""
    if run.is_final or run.cancel_requested_by:
        return False
    return user.is_lake_staff_of(run.lake) or run.requested_by == user.username


def _facts(run: Run) -> list[tuple[str, object]]:
    """Return the plain values of the run's result, in order of name; counts spelled out."""
    result = run.result if isinstance(run.result, dict) else {}
    plain = {
        **result,
        "counts": ", ".join(f"{n:,} {what}" for what, n in _counts(result)),
    }
    return [
        (name.removeprefix("n_").replace("_", " ").capitalize(), value)
        for name, value in sorted(plain.items())
        if isinstance(value, str | int | float) and value != ""
    ]


def _counts(result: dict[str, Any]) -> list[tuple[str, int]]:
    """Return an acting run's counts by outcome, each as its badge says it."""
    counts = result.get("counts")
    if not isinstance(counts, dict):
        return []
    return [(badge_for(name).word.lower(), n) for name, n in counts.items() if isinstance(n, int)]
