"""Queries that engines tell of are kept where the lake says so, without constants by default."""

import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.domain.shapes import Parted, parted
from optimizer.models import IcebergTable, PolicyVersion, QueryDay
from optimizer.queries.domain.spark_queries import SparkApplication, read_batch
from optimizer.queries.run_kinds import KEEP_KIND, KeepQueriesKind
from optimizer.queries.services import keeping, spool
from optimizer.queries.services.spool import (
    segment_read,
    segments_close,
    segments_closed,
    spool_folder,
)
from optimizer.queries.services.taking import spark_queries_report, trino_query_report
from portal.access.lakes import get_lake
from portal.lake.errors import ExternalFailure
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from portal.runs.requests.services import run_request
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.golden.spark import APPLICATION
from tests.golden.spark import query as spark_query
from tests.golden.trino import event, events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake", "tables")]
POINT = "SELECT count(*) FROM lake.shop.ev WHERE uid = 40"


@pytest.fixture
def tables(people: People) -> list[IcebergTable]:
    """The two tables of the recorded queries."""
    return [iceberg(name, now=timezone.now(), owner="olga") for name in ("ev", "dim")]


@pytest.fixture
def kept(lake: Any, settings: Any) -> Iterator[None]:
    """The lake names a table for its queries."""
    _configure(settings, recorded_queries="ops.queries")
    yield
    spool._writers.clear()


def _configure(settings: Any, **values: Any) -> None:
    path = settings.LAKEWARDEN_LAKES
    said = json.loads(path.read_text(encoding="utf-8"))
    said["main"] |= values
    path.write_text(json.dumps(said), encoding="utf-8")


def tell(people: People, said: dict[str, Any]) -> None:
    trino_query_report("main", said, catalog="lake", user=people.owner, now=timezone.now())


def written() -> list[dict[str, Any]]:
    segments_close("main", now=timezone.now(), is_all=True)
    data = b"".join(segment_read("main", one) or b"" for one in segments_closed("main", most=99))
    return [json.loads(line) for line in data.splitlines()]


def policy(scope: str, constants: str) -> None:
    PolicyVersion.objects.create(
        lake="main",
        scope=scope,
        version=1,
        values={"query_constants": constants},
        by="ada",
        at=timezone.now(),
        reason="so",
    )


def test_without_a_table_for_them_nothing_is_kept(people: People) -> None:
    tell(people, event(POINT))
    assert not spool_folder("main").exists()
    assert QueryDay.objects.get().n_not_kept == 0


@pytest.mark.usefixtures("kept")
def test_each_query_is_kept_once_without_its_constants(people: People) -> None:
    for one in [*events(), *events()]:
        tell(people, one)
    found = written()
    queries = [one for one in found if "query_id" in one]
    assert len(queries) == len({one["query_id"] for one in queries}) == len(events())
    shapes = {one["shape"]: one["text"] for one in found if "text" in one}
    assert {one["shape"] for one in queries} == set(shapes)
    assert len(shapes) == sum("text" in one for one in found)
    (point,) = [
        one
        for one in queries
        if shapes[one["shape"]] == "SELECT COUNT(*) FROM lake.shop.ev WHERE uid = ?"
        and one["query_id"] == event(POINT)["metadata"]["queryId"]
    ]
    assert point["tables"][0]["filters"] == [{"column": "uid", "kind": "="}]
    assert (point["names_all_tables"], point["failed"], point["constants"]) == (True, False, None)
    assert len(point["hashes"]) == 1
    assert all(one["constants"] is None for one in queries)
    assert {one["names_all_tables"] for one in queries if one["failed"]} == {False}


@pytest.mark.usefixtures("kept")
def test_constants_are_kept_in_clear_only_where_all_tables_say_so(people: People) -> None:
    join = next(one for one in events() if " JOIN " in one["metadata"]["query"].upper())
    policy("shop.ev", "kept")
    tell(people, event(POINT))
    tell(people, join)
    found = {one["query_id"]: one for one in written() if "query_id" in one}
    assert found[event(POINT)["metadata"]["queryId"]]["constants"] == ["40"]
    assert found[join["metadata"]["queryId"]]["constants"] is None


@pytest.mark.usefixtures("kept")
def test_of_a_query_that_reads_other_catalogs_too_no_constant_is_kept(people: People) -> None:
    policy("*", "kept")
    other = deepcopy(event(POINT))
    other["ioMetadata"]["inputs"].append({"catalogName": "crm", "connectorName": "mysql"})
    tell(people, other)
    (found,) = [one for one in written() if "query_id" in one]
    assert (found["constants"], found["names_all_tables"]) == (None, False)


@pytest.mark.usefixtures("kept")
def test_what_has_no_room_is_counted_and_shown(people: People, settings: Any) -> None:
    settings.LAKEWARDEN_RECORDED_QUERY_MIB = 0
    tell(people, event(POINT))
    assert (QueryDay.objects.get().n_queries, QueryDay.objects.get().n_not_kept) == (1, 1)
    client = Client()
    client.force_login(people.owner)
    (told,) = client.get("/api/v1/optimizer/queries/?lake=main").json()
    assert told["n_not_kept"] == 1
    assert "1 query of Trino was not kept" in client.get("/optimizer/queries/").content.decode()
    page = client.get("/optimizer/advice/?lake=main").content.decode()
    assert 'data-title="Not kept">1<' in page


@pytest.mark.usefixtures("kept")
def test_a_text_that_comes_again_is_not_parsed_again(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "_remembered", keeping._Remembered())
    parsed: list[str] = []

    def counted(text: str, dialect: str) -> Parted:
        parsed.append(text)
        return parted(text, dialect)

    monkeypatch.setattr(keeping, "parted", counted)
    for n in range(20):
        one = deepcopy(event(POINT))
        one["metadata"]["queryId"] = f"q{n}"
        tell(people, one)
    assert len(parsed) == 1
    found = written()
    assert (len(found), sum("text" in one for one in found)) == (21, 1)


@pytest.mark.usefixtures("kept")
def test_a_text_of_two_megabytes_and_half_a_character_are_taken(people: People) -> None:
    for n, text in enumerate(("SELECT '" + "x'' y" * 400_000 + "'", "SELECT '\ud800' FROM ev")):
        one = deepcopy(event(POINT))
        one["metadata"] |= {"queryId": f"q{n}", "query": text}
        tell(people, one)
    found = written()
    assert len([one for one in found if "query_id" in one]) == 2
    assert "x" not in "".join(one.get("text", "") for one in found)


def test_a_table_s_name_that_is_none_is_refused(settings: Any) -> None:
    for wrong in ("queries", "ops.Queries", "a.b.c", 3, ["ops", "queries"]):
        _configure(settings, recorded_queries=wrong)
        with pytest.raises(ExternalFailure, match=r"config|configuration"):
            get_lake("main")


@pytest.mark.usefixtures("kept")
def test_a_run_is_wanted_where_segments_wait_and_gets_them_by_file(people: People) -> None:
    now, kind = timezone.now(), KeepQueriesKind()
    assert kind.scheduled_params("main", now=now) is None
    tell(people, event(POINT))
    assert kind.scheduled_params("main", now=now) is None, "its segment is still written"
    params = kind.scheduled_params("main", now=now + timedelta(minutes=6))
    assert params is not None
    (name,) = params["segments"]
    run = run_request(KEEP_KIND, lake="main", params=params, requested_by="schedule", now=now)
    assert kind.scheduled_params("main", now=now + timedelta(minutes=6)) is None
    assert kind.request(run)["keep_days"] == 35
    Run.objects.filter(pk=run.pk).update(spool=str(new_spool(run).root))
    run.refresh_from_db()
    open_spool(run).create()
    kind.prepare(run)
    kind.prepare(run)
    copy = open_spool(run).results.child("segments", f"{name}.jsonl")
    assert open_spool(run).fs.read(copy) == segment_read("main", name)

    failed = {"outcome": "failed", "error": {"code": "x"}, "result": {}}
    kind.ingest(run, failed)
    assert segments_closed("main", most=9) == [name], "it waits for the next run"
    for _ in range(2):
        kind.ingest(run, {"outcome": "done", "error": None, "result": {"segments": [name]}})
    assert segments_closed("main", most=9) == []
    assert open_spool(run).fs.status(copy) is None


@pytest.mark.usefixtures("kept")
def test_days_are_removed_daily_where_no_query_comes(people: People) -> None:
    now, kind = timezone.now(), KeepQueriesKind()
    run = run_request(KEEP_KIND, lake="main", params={}, requested_by="schedule", now=now)
    Run.objects.filter(pk=run.pk).update(state="DONE", finished_at=now - timedelta(hours=23))
    assert kind.scheduled_params("main", now=now) is None
    later = now + timedelta(hours=2)
    assert kind.scheduled_params("main", now=later) == {"segments": [], "now": later.isoformat()}


@pytest.mark.usefixtures("kept")
def test_spark_has_constants_kept_only_where_it_names_all_tables(people: People) -> None:
    policy("*", "kept")
    names = ("point", "both", "view of a file", "insert")
    batch = [spark_query(name) for name in names]
    driver = SparkApplication(APPLICATION["id"])
    read = read_batch(batch, application=driver, catalog="lake")
    spark_queries_report("main", read, user=people.owner, now=timezone.now())
    found = [one for one in written() if "query_id" in one]
    kept = [(one["names_all_tables"], one["constants"]) for one in found]
    assert kept == [(True, ["40"]), (False, None), (False, None), (False, None)]
