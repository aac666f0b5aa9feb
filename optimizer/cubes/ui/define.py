"""Pages that define a cube or change one: the form, its check while typing, and the estimate."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from optimizer.cubes.domain.drafts import draft_of
from optimizer.cubes.selectors import get_cube_for_user, version_of
from optimizer.cubes.services.definitions import cube_change, cube_define
from optimizer.cubes.services.estimates import check_answers, estimate_request, get_estimate
from optimizer.cubes.ui.addresses import cube_url, cubes_tab_url
from optimizer.cubes.ui.forms import CubeForm
from optimizer.iceberg.tables.selectors.tables import get_table_for_user
from optimizer.models import Cube, IcebergTable
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.ui.frame.context import person


@require_http_methods(["GET", "POST"])
def define(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show the form of a new cube, or have what was typed estimated."""
    table = get_table_for_user(table_id, person(request))
    check_answers(table, person(request))
    given = request.GET.get("estimate", "")
    initial = _typed(table, given) if given else {"max_leaf": 10, "time_zone": "UTC"}
    return _form_page(request, table, initial)


@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, cube_id: int) -> HttpResponse:
    """Show the form with the definition that holds, or have a new one estimated."""
    cube = get_cube_for_user(cube_id, person(request))
    check_answers(cube.table, person(request))
    initial = asdict(draft_of(version_of(cube).definition))
    return _form_page(request, cube.table, initial, cube=cube)


@require_POST
def check(request: HttpRequest, table_id: int) -> HttpResponse:
    """Say what is wrong with what was typed so far, at each field; nothing is kept."""
    table = get_table_for_user(table_id, person(request))
    form = CubeForm(request.POST, table=str(table))
    form.is_valid()
    context = {"form": form, "iceberg": table, "is_live": True}
    return render(request, "optimizer/_cube_checked.html", context)


@require_GET
def estimate(request: HttpRequest, table_id: int, run_id: UUID) -> HttpResponse:
    """Show what was estimated; the page asks again while the run is under way."""
    table = get_table_for_user(table_id, person(request))
    run = get_estimate(table, run_id)
    definition = (run.result or {}).get("definition") or run.params["definition"]
    cube = _cube_named(table, definition["name"])
    context = {
        "iceberg": table,
        "run": run,
        "found": run.result or None,
        "definition": definition,
        "cube": cube,
        "seen": {"seen": cube.version} if cube else {},
        "rows": _dimension_rows(run.result or {}),
        "tab_url": cubes_tab_url(table),
    }
    part = "optimizer/_cube_estimate.html" if request.headers.get("HX-Request") else ""
    return render(request, part or "optimizer/cube_estimate.html", context)


@require_POST
def accept(request: HttpRequest, table_id: int, run_id: UUID) -> HttpResponse:
    """Define the cube of an estimate, or give a cube its definition."""
    user, now = person(request), timezone.now()
    table = get_table_for_user(table_id, user)
    run = get_estimate(table, run_id)
    reason = request.POST.get("reason", "")
    cube = _cube_named(table, run.params["definition"]["name"])
    if cube is None:
        cube = cube_define(table, run, user=user, reason=reason, now=now)
        messages.success(request, "The cube is defined; the next run begins to build it.")
    else:
        seen = _number(request.POST.get("seen", ""))
        cube_change(cube, run, seen=seen, user=user, reason=reason, now=now)
        messages.success(request, "The definition is changed; the next run rebuilds the cube.")
    return HttpResponseRedirect(cube_url(cube))


def _form_page(
    request: HttpRequest, table: IcebergTable, initial: dict[str, Any], *, cube: Cube | None = None
) -> HttpResponse:
    form = CubeForm(request.POST or None, table=str(table), initial=initial)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                run = _asked(request, table, form)
            except (RuleViolation, NotVisible) as error:
                field = str(error.fields.get("field", "")) or None
                form.add_error(field if field in form.fields else None, error.message)
            else:
                where = reverse("optimizer:cube-estimate", args=[table.pk, run.pk])
                return HttpResponseRedirect(where)
    context = {
        "form": form,
        "iceberg": table,
        "cube": cube,
        "tab_url": cubes_tab_url(table),
        "columns": table.columns,
    }
    return render(request, "optimizer/cube_define.html", context, status=status)


def _asked(request: HttpRequest, table: IcebergTable, form: CubeForm) -> Run:
    return estimate_request(table, form.draft, user=person(request), now=timezone.now())


def _typed(table: IcebergTable, run_id: str) -> dict[str, Any]:
    """Return what an estimate was asked of, to be typed further."""
    try:
        run = get_estimate(table, UUID(run_id))
    except ValueError:
        raise NotVisible("cube.estimate", "The table has no such estimate.") from None
    return asdict(draft_of(run.params["definition"]))


def _dimension_rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    without = {one["dimension"]: one["cube_rows"] for one in found.get("without", ())}
    return [{**one, "without": without.get(one["name"])} for one in found.get("dimensions", ())]


def _cube_named(table: IcebergTable, name: str) -> Cube | None:
    return table.cubes.filter(is_there=True, name=name).first()


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0
