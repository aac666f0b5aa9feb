"""Actions on a pipeline and its tables: test, create, edit, pause, resume and delete."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from pipelines.cdc.control.domain.plans import Choice
from pipelines.cdc.control.domain.spec import columns_protected, protection_text
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.selectors.pipelines import (
    check_lake_staff,
    get_captured_table,
    get_pipeline_for_user,
)
from pipelines.cdc.control.services.columns import column_choose
from pipelines.cdc.control.services.pipelines import (
    pipeline_create,
    pipeline_delete,
    pipeline_edit,
    pipeline_reload,
    pipeline_want,
    table_reload,
    table_want,
)
from pipelines.cdc.control.services.protections import table_protect
from pipelines.cdc.control.services.retrying import quarantine_retry
from pipelines.cdc.control.services.testing import TestReport, source_test, topics_columns
from pipelines.cdc.control.ui.forms import EditForm, PipelineForm
from pipelines.cdc.control.ui.pages import captured_url, pipeline_url
from pipelines.cdc.control.ui.topics_forms import EditTopicsForm, NewTopicsForm
from pipelines.models import Pipeline
from portal.access.actors import Actor
from portal.access.fresh import is_fresh, require_fresh
from portal.access.roles.domain import ALL_LAKES
from portal.lake.errors import PortalError, StaleState
from portal.ui.frame.context import current_lake, person


@require_http_methods(["GET", "POST"])
def create_view(request: HttpRequest) -> HttpResponse:
    """Test a source (do=test), then create its pipeline (do=create)."""
    check_lake_staff(person(request), current_lake(request))
    form = PipelineForm(request.POST if request.method == "POST" else None)
    report: TestReport | None = None
    if form.is_valid():
        try:
            spec, by = form.spec(), _actor(request, ALL_LAKES)
            report = source_test(spec, by=by)
            if request.POST.get("do") == "create" and report.is_good:
                made = pipeline_create(spec, by=by, now=timezone.now())
                messages.success(request, f"{made.name} is created; its full load begins.")
                return HttpResponseRedirect(pipeline_url(made))
        except PortalError as error:
            form.add_error(None, error.message)
    status = 400 if request.method == "POST" and form.errors else 200
    context: dict[str, Any] = {"form": form, "report": report}
    return render(request, "pipelines/create.html", context, status=status)


@require_http_methods(["GET", "POST"])
def create_topics_view(request: HttpRequest) -> HttpResponse:
    """Test topics (do=test), then create their pipeline (do=create); columns by a sample if none.

    Nothing is created with columns that nobody has looked at.
    """
    check_lake_staff(person(request), current_lake(request))
    form = NewTopicsForm(request.POST if request.method == "POST" else None)
    report: TestReport | None = None
    is_sample = False
    if form.is_valid():
        try:
            by = _actor(request, ALL_LAKES)
            if not form.cleaned_data["columns"].strip():
                place, patterns = form.place()
                form = form.with_columns(topics_columns(place, patterns, by=by))
                is_sample = form.is_valid()
            spec = form.spec()
            report = source_test(spec, by=by)
            if request.POST.get("do") == "create" and report.is_good and not is_sample:
                made = pipeline_create(spec, by=by, now=timezone.now())
                messages.success(request, f"{made.name} is created; its topics are read.")
                return HttpResponseRedirect(pipeline_url(made))
        except PortalError as error:
            form.add_error(None, error.message)
    status = 400 if request.method == "POST" and form.errors else 200
    context: dict[str, Any] = {"form": form, "report": report, "is_sample": is_sample}
    return render(request, "pipelines/create_topics.html", context, status=status)


@require_http_methods(["GET", "POST"])
def edit_view(request: HttpRequest, name: str) -> HttpResponse:
    """Test another server, log-in or list of tables (do=test), then keep it (do=keep)."""
    found = _found(request, name)
    kind = EditTopicsForm if found.is_of_topics else EditForm
    form = kind(request.POST) if request.method == "POST" else kind.of(found)
    report: TestReport | None = None
    status = 400 if form.errors else 200
    if form.is_valid():
        try:
            spec, by = form.spec(found), _actor(request, ALL_LAKES)
            report = source_test(spec, by=by)
            if request.POST.get("do") == "keep" and report.is_good:
                version = form.cleaned_data["version"]
                pipeline_edit(found, spec, version=version, by=by, now=timezone.now())
                messages.success(request, f"{found.name} goes on with the new settings.")
                return HttpResponseRedirect(pipeline_url(found))
        except PortalError as error:
            form.add_error(None, error.message)
            status = 409 if isinstance(error, StaleState) else 400
    context: dict[str, Any] = {"form": form, "report": report, "found": found}
    return render(request, "pipelines/edit.html", context, status=status)


@require_POST
def pause_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Capture and apply nothing more."""
    return _want(request, name, Desired.PAUSED, "Paused: its programs stop within seconds.")


@require_POST
def resume_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Go on where it stopped."""
    return _want(request, name, Desired.RUNNING, "Resumed: it goes on where it stopped.")


@require_POST
def table_pause_view(request: HttpRequest, name: str, pk: int) -> HttpResponseRedirect:
    """Apply nothing more to one table."""
    said = "Paused: its changes are captured, and applied when it is resumed."
    return _want_table(request, name, pk, Desired.PAUSED, said)


@require_POST
def table_resume_view(request: HttpRequest, name: str, pk: int) -> HttpResponseRedirect:
    """Apply what was captured meanwhile."""
    said = "Resumed: what was captured meanwhile is applied."
    return _want_table(request, name, pk, Desired.RUNNING, said)


@require_POST
def reload_view(request: HttpRequest, name: str) -> HttpResponseRedirect:
    """Load every table again."""
    found, reason = _found(request, name), request.POST.get("reason", "")
    pipeline_reload(found, reason=reason, by=_actor(request, found.lake), now=timezone.now())
    messages.success(request, "Every table is loaded again.")
    return HttpResponseRedirect(pipeline_url(found))


@require_POST
def table_reload_view(request: HttpRequest, name: str, pk: int) -> HttpResponseRedirect:
    """Load one table again."""
    table = get_captured_table(_found(request, name), pk)
    reason = request.POST.get("reason", "")
    table_reload(table, reason=reason, by=_actor(request, table.pipeline.lake), now=timezone.now())
    messages.success(request, "It is loaded again; its changes go on beside it.")
    return HttpResponseRedirect(captured_url(table))


@require_POST
@require_fresh
def delete_view(request: HttpRequest, name: str) -> HttpResponse:
    """Delete a paused pipeline."""
    found = _found(request, name)
    pipeline_delete(
        found,
        typed=request.POST.get("typed", ""),
        reason=request.POST.get("reason", ""),
        by=_actor(request, found.lake),
        now=timezone.now(),
    )
    messages.success(request, f"{found.name} is deleted; the lake's tables and the log stay.")
    return redirect("pipelines:pipelines")


@require_POST
def column_view(request: HttpRequest, name: str, pk: int) -> HttpResponseRedirect:
    """Say how the lake may have a column that came later."""
    table = get_captured_table(_found(request, name), pk)
    column, said = request.POST.get("column", ""), request.POST.get("choice", "")
    if said == Choice.LIVE.value:
        said = protection_text(request.POST.get("method", ""), request.POST.get("key", ""))
    reason = request.POST.get("reason", "")
    column_choose(
        table,
        column,
        said,
        reason=reason,
        by=_actor(request, table.pipeline.lake),
        now=timezone.now(),
    )
    filled = "the lake never has it" if said == Choice.REFUSED else "its values are filled in"
    messages.success(request, f"Column {column}: {filled}.")
    return HttpResponseRedirect(captured_url(table))


@require_POST
@require_fresh
def table_protect_view(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Protect columns otherwise, or partition by another: into a new table."""
    table = get_captured_table(_found(request, name), pk)
    is_again = table_protect(
        table,
        columns_protected(request.POST.get("protections", "")),
        partition=request.POST.get("partition", "").strip(),
        reason=request.POST.get("reason", ""),
        by=_actor(request, table.pipeline.lake),
        now=timezone.now(),
    )
    table = get_captured_table(table.pipeline, pk)
    said = f"It is loaded again, into {table.target}." if is_again else "It stays as it is."
    messages.success(request, said)
    return HttpResponseRedirect(captured_url(table))


@require_POST
def quarantine_retry_view(request: HttpRequest, name: str, pk: int) -> HttpResponseRedirect:
    """Apply the records in quarantine again."""
    table = get_captured_table(_found(request, name), pk)
    reason = request.POST.get("reason", "")
    quarantine_retry(
        table, reason=reason, by=_actor(request, table.pipeline.lake), now=timezone.now()
    )
    messages.success(request, "They are applied again; what still does not fit comes back.")
    return HttpResponseRedirect(captured_url(table))


def _want(request: HttpRequest, name: str, desired: Desired, said: str) -> HttpResponseRedirect:
    found, reason = _found(request, name), request.POST.get("reason", "")
    pipeline_want(found, desired, reason=reason, by=_actor(request, found.lake), now=timezone.now())
    messages.success(request, said)
    return HttpResponseRedirect(pipeline_url(found))


def _want_table(
    request: HttpRequest, name: str, pk: int, desired: Desired, said: str
) -> HttpResponseRedirect:
    table = get_captured_table(_found(request, name), pk)
    reason = request.POST.get("reason", "")
    table_want(
        table, desired, reason=reason, by=_actor(request, table.pipeline.lake), now=timezone.now()
    )
    messages.success(request, said)
    return HttpResponseRedirect(captured_url(table))


def _actor(request: HttpRequest, lake: str) -> Actor:
    return Actor.of(person(request), lake=lake, is_fresh=is_fresh(request, timezone.now()))


def _found(request: HttpRequest, name: str) -> Pipeline:
    return get_pipeline_for_user(name, user=person(request))
