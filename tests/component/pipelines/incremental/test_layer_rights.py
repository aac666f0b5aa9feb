"""A layer reads rows by the right of who defined it, which is looked at before each advance."""

from datetime import datetime

import msgspec
import pytest

from pipelines.incremental.domain.messages import Request
from pipelines.incremental.services.declaring import Timing, layer_create, layer_edit
from pipelines.incremental.services.requests import layer_run, request_of
from pipelines.models import Layer
from portal.access.actors import Actor
from portal.access.models import DatabaseAdministrator
from portal.lake.errors import NotAllowed
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.pipelines.incremental.layered import ADA, ORDERS, LayerLake, declare

pytestmark = pytest.mark.django_db
OTTO = Actor("otto", is_staff=True, is_admin=False)
SHELL = Actor("shell", is_staff=True, is_admin=True)


def asked(row: Layer, now: datetime) -> tuple[int, str, str]:
    """Return how many layers a run advances, and what is told of this one."""
    Run.objects.update(finished_at=now)
    plain = request_of(layer_run(row, by=ADA, now=now))
    row.refresh_from_db()
    return len(msgspec.convert(plain, Request).layers), row.problem_code, row.problem


def test_a_layer_of_somebody_who_may_not_see_the_rows_waits_for_somebody_who_may(
    hive: LayerLake, people: People, now: datetime
) -> None:
    row = declare(now)
    assert asked(row, now) == (1, "", "")
    Layer.objects.update(owner="otto")  # it was defined before the rule
    n, code, said = asked(row, now)
    assert (n, code) == (0, "layer.rows")
    assert "rows of ods.orders, which otto may not see" in said
    assert "edits and saves it" in said
    with pytest.raises(NotAllowed, match="otto may not see"):
        layer_edit(row, ORDERS, timing=Timing(), version=1, by=OTTO, now=now)
    DatabaseAdministrator.objects.create(lake="main", db="ods", username="otto")
    assert asked(row, now)[0] == 1
    DatabaseAdministrator.objects.all().delete()
    assert asked(row, now)[0] == 0
    layer_edit(row, ORDERS, timing=Timing(), version=1, by=ADA, now=now)
    row.refresh_from_db()
    assert (row.owner, row.version, row.problem) == ("ada", 2, "")
    assert row.full_reason == "", "the definition is the same"
    assert asked(row, now)[0] == 1


def test_times_may_be_changed_by_somebody_who_sees_no_rows(
    hive: LayerLake, people: People, now: datetime
) -> None:
    row = declare(now)
    layer_edit(row, ORDERS, timing=Timing(7), version=1, by=OTTO, now=now)
    row.refresh_from_db()
    assert (row.owner, row.set_by) == ("ada", "otto")
    assert asked(row, now)[0] == 1


def test_an_account_that_is_gone_reads_nothing(
    hive: LayerLake, people: People, now: datetime
) -> None:
    row = declare(now)
    people.admin.is_active = False
    people.admin.save()
    n, code, said = asked(row, now)
    assert (n, code) == (0, "layer.rows")
    assert "somebody without an account" in said


def test_who_has_a_shell_may_see_all_rows(hive: LayerLake, people: People, now: datetime) -> None:
    row = layer_create("main", ORDERS, by=SHELL, now=now)
    assert row.owner == "shell"
    assert asked(row, now)[0] == 1
