"""What people define and ask of cubes, with the rights, versions, history and refusals."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from optimizer.cubes.domain.drafts import Draft
from optimizer.cubes.services.definitions import (
    cube_change,
    cube_declare,
    cube_define,
    cube_rebuild,
)
from optimizer.cubes.services.estimates import estimate_request
from optimizer.cubes.services.upkeep import cube_drop, cube_pause, cube_resume, drop_ingest
from optimizer.models import Cube, IcebergTable
from portal.audit.models import AuditEvent
from portal.lake.errors import PortalError
from portal.runs.domain import RunState
from portal.runs.models import Run
from stack.lake import star
from tests.component.conftest import People
from tests.component.optimizer.cubes.cube_rows import DRAFT, cube, estimate
from tests.component.optimizer.optimizer_rows import iceberg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


@pytest.fixture
def table(people: People, now: datetime) -> IcebergTable:
    return iceberg("clicks", now=now, owner=people.owner.username)


def refused(
    code: str, service: Callable[..., object], *args: object, **options: object
) -> PortalError:
    with pytest.raises(PortalError) as found:
        service(*args, **options)
    assert found.value.code == code, found.value
    return found.value


def test_a_cube_is_defined_from_an_estimate_once_with_its_history(
    people: People, table: IcebergTable, now: datetime
) -> None:
    run = estimate(table)
    made = cube_define(table, run, user=people.owner, reason=" dashboards ", now=now)
    assert (made.name, made.state, made.version) == ("by_kind", "ACTIVE", 1)
    assert made.cube_table == "shop.clicks__cube_by_kind"
    version = made.versions.get()
    assert (version.by, version.reason) == ("olga", "dashboards")
    assert version.definition["definition_version"] == 1
    assert version.estimate["cube_rows"] == 480
    event = AuditEvent.objects.get(action="optimizer.cube_defined")
    assert event.data["cube"] == "by_kind"
    refused("cube.name", cube_define, table, run, user=people.admin, reason="so", now=now)
    assert Cube.objects.count() == 1


def test_strangers_and_bad_reasons_and_bad_estimates_make_no_cube(
    people: People, table: IcebergTable, now: datetime
) -> None:
    run = estimate(table)
    mine: dict[str, Any] = {"user": people.owner, "now": now}
    args: dict[str, Any] = {"user": people.stranger, "reason": "so", "now": now}
    refused("policy.table", cube_define, table, run, **args)
    refused("cube.reason", cube_define, table, run, reason=" ", **mine)
    never = estimate(table, pays=False, reason="The cube would hold 95 %.")
    assert "95 %" in refused("cube.refused", cube_define, table, never, reason="a", **mine).message
    wrong = estimate(table, problems=[{"field": "joins", "message": "twice"}])
    refused("cube.refused", cube_define, table, wrong, reason="so", **mine)
    other = estimate(table)
    other.params["uuid"] = "another"
    refused("cube.estimate", cube_define, table, other, reason="so", **mine)
    run.state = RunState.RUNNING
    refused("cube.estimate", cube_define, table, run, reason="so", **mine)
    assert not Cube.objects.exists()


def test_a_joined_table_must_be_theirs_to_see(
    people: People, table: IcebergTable, now: datetime
) -> None:
    draft = Draft(
        "c", joins="s: shop.secret on id = id", dimensions="s.name", measures="price: sum"
    )
    hidden = iceberg("secret", now=now, owner="nobody")
    refused("cube.join", estimate_request, table, draft, user=people.owner, now=now)
    run = estimate(table, draft)
    refused("cube.join", cube_define, table, run, user=people.owner, reason="so", now=now)
    hidden.owner = people.owner.username
    hidden.save()
    assert estimate_request(table, draft, user=people.owner, now=now).params["uuid"] == table.uuid


def test_a_change_is_a_new_version_and_the_second_of_two_is_told(
    people: People, table: IcebergTable, now: datetime
) -> None:
    made = cube_define(table, estimate(table), user=people.owner, reason="so", now=now)
    other = estimate(table, Draft("by_kind", dimensions="kind\nshop", measures="price: sum"))
    said: dict[str, Any] = {"user": people.owner, "reason": "more", "now": now}
    refused("cube.same", cube_change, made, estimate(table), seen=1, **said)
    cube_change(made, other, seen=1, **said)
    assert made.version == 2
    refused("cube.changed", cube_change, made, estimate(table), seen=1, **said)
    named = estimate(table, Draft("another", dimensions="kind"))
    refused("cube.name", cube_change, made, named, seen=2, **said)
    assert [one.version for one in made.versions.order_by("version")] == [1, 2]
    assert len(made.versions.get(version=1).definition["dimensions"]) == 1


def test_rebuilding_keeps_the_definition_under_a_new_version(
    people: People, table: IcebergTable, now: datetime
) -> None:
    made = cube(table, now=now)
    cube_rebuild(made, user=people.admin, reason="doubts", now=now)
    first, second = made.versions.order_by("version")
    assert second.definition == {**first.definition, "definition_version": 2}
    refused("policy.table", cube_rebuild, made, user=people.stranger, reason="so", now=now)


def test_pausing_resuming_and_dropping(people: People, table: IcebergTable, now: datetime) -> None:
    made = cube(table, now=now)
    said: dict[str, Any] = {"user": people.owner, "reason": "so", "now": now}
    refused("policy.table", cube_pause, made, user=people.stranger, reason="so", now=now)
    refused("cube.state", cube_resume, made, **said)
    cube_pause(made, **said)
    assert (made.state, made.state_by) == ("PAUSED", "olga")
    refused("cube.state", cube_pause, made, **said)
    refused("cube.state", cube_rebuild, made, **said)
    cube_resume(made, **said)
    run = cube_drop(made, **said)
    assert (made.state, run.params["name"]) == ("DROPPING", "by_kind")
    refused("cube.dropping", cube_drop, made, **said)
    refused("cube.state", cube_pause, made, **said)

    drop_ingest(run, {"outcome": "failed", "error": {"message": "not ours"}}, now=now)
    made.refresh_from_db()
    assert (made.state, made.problem) == ("DROPPING", "not ours")
    Run.objects.filter(pk=run.pk).update(state=RunState.FAILED, finished_at=now)

    again = cube_drop(made, **said)
    drop_ingest(again, {"outcome": "done", "result": {"words": "gone"}}, now=now)
    drop_ingest(again, {"outcome": "done", "result": {"words": "gone"}}, now=now)
    made.refresh_from_db()
    assert (made.state, made.is_there, made.problem) == ("DROPPED", None, "")
    assert not made.coverage.exists()
    assert made.versions.exists()
    assert AuditEvent.objects.filter(action="optimizer.cube_dropped").count() == 1
    # Its name is free again.
    assert cube_define(table, estimate(table), **said).version == 1


def test_a_gone_table_and_too_many_cubes_are_refused(
    people: People, table: IcebergTable, now: datetime
) -> None:
    said: dict[str, Any] = {"user": people.owner, "reason": "so", "now": now}
    for n in range(20):
        cube(table, f"c{n}", now=now)
    refused("cube.most", cube_define, table, estimate(table), **said)
    table.is_deleted = True
    refused("optimizer.gone", estimate_request, table, DRAFT, user=people.owner, now=now)


def test_a_program_declares_a_cube_without_an_estimate_once(
    people: People, table: IcebergTable, now: datetime
) -> None:
    for name in ("products", "makers", "shops"):
        iceberg(f"star_{name}", db="sales", now=now, owner=people.owner.username)
    said: dict[str, Any] = {"user": people.owner, "reason": "so", "now": now}
    made = cube_declare(table, star.CUBE, **said)
    assert cube_declare(table, star.CUBE, **said) == made
    assert made.versions.get().definition["table"] == {"name": "shop.clicks", "uuid": table.uuid}
    other = {**star.CUBE, "joins": [], "dimensions": [], "measures": []}
    refused("cube.definition", cube_declare, table, other, **said)
    stranger = {**said, "user": people.stranger}
    refused("policy.table", cube_declare, table, star.CUBE, **stranger)
