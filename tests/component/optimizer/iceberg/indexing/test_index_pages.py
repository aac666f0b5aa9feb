"""The tab of a table's indexes and the API say what the last job found, and what is asked for."""

from datetime import datetime
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.iceberg.indexing.domain.wanted import coverage_part
from optimizer.iceberg.indexing.selectors import ColumnCoverage, that_do_not_pay
from optimizer.iceberg.indexing.services.coverage import coverage_ingest
from optimizer.models import IcebergTable, IndexCoverage, OptimizeTask
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.optimizer.iceberg.looked_tables import Looked
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.portal.ui.table_rows import listed

pytestmark = pytest.mark.django_db
PAGE = "/tables/shop/clicks/indexes/?lake=main"


def found(column: str, partition: str, place: int, **values: Any) -> dict[str, Any]:
    return {
        "field_id": 1,
        "column": column,
        "wanted": "auto",
        "kinds": "bloom",
        "partition": partition,
        "place": place,
        "n_files": 4,
        "n_covered": 4,
        "n_refused": 0,
        "n_rows": 8000,
        "n_bytes": 10_000,
        "n_measured": 4,
        "false_positives": 0.01,
        "refused": "",
        **values,
    }


def ingested(lake: LakeConfig, row: IcebergTable, rows: list[dict[str, Any]], now: datetime) -> int:
    looked = Looked(lake, row)
    sent = OptimizeTask.objects.create(
        table=row, kind=TaskKind.INDEX, state=TaskState.SENT, run=looked.run.pk, created_at=now
    )
    place = looked.spool.results.child(coverage_part(sent.pk))
    looked.spool.fs.make_directories(place, mode=0o700)
    buffer = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    looked.spool.fs.replace(place.child("part-00001.parquet"), buffer.getvalue())
    n_rows = coverage_ingest(sent, now=now)
    OptimizeTask.objects.filter(pk=sent.pk).update(state=TaskState.DONE, is_open=None, ended_at=now)
    return n_rows


def test_coverage_by_column_and_partition_is_shown(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    row = iceberg(now=now)
    listed("clicks", format="iceberg")
    policy(index_columns=["id", "word:ngram_bloom"])
    rows = [
        found("id", "dt=2", 0),
        found(
            *("id", "dt=1", 1),
            n_covered=1,
            n_refused=1,
            n_measured=1,
            false_positives=0.06,
            refused="it holds one value",
        ),
    ]
    for _ in range(2):
        assert ingested(lake, row, rows, now) == 2
    assert IndexCoverage.objects.count() == 2
    client = Client()
    client.force_login(people.owner)

    text = client.get(PAGE).content.decode()
    assert "5 of 8" in text
    assert "it holds one value" in text
    assert ">2 %<" in text
    assert "not measured" in text
    assert "does not pay" not in text
    assert "not built yet" in text
    assert "Build missing indexes" in text
    assert "index-map" in text
    assert ">Indexes</a>" in text

    said = client.get(f"/api/v1/optimizer/tables/{row.pk}/indexes/").json()
    assert said["wanted"] == ["id", "word:ngram_bloom"]
    by_id, by_word = said["columns"]
    assert (by_id["n_covered"], by_id["n_files"], by_id["bits_a_row"]) == (5, 8, 10.0)
    assert by_id["false_positives"] == pytest.approx(0.02)
    assert (by_word["wanted"], by_word["at"]) == ("ngram_bloom", None)
    listing = client.get(f"/api/v1/optimizer/tables/{row.pk}/indexes/partitions/").json()
    assert [one["partition"] for one in listing["results"]] == ["dt=2", "dt=1"]

    client.force_login(people.stranger)
    assert client.get(PAGE).status_code == 404
    for address in ("indexes", "indexes/partitions"):
        answer = client.get(f"/api/v1/optimizer/tables/{row.pk}/{address}/")
        assert answer.status_code == 404


def test_an_index_that_does_not_pay_is_told_with_its_reason_and_stays(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    row = iceberg(now=now)
    listed("clicks", format="iceberg")
    policy(index_columns=["id"])
    reason = "Not worth its cost: bloom: it loads for 900 ms a look-up and saves 3 ms."
    rows = [
        found("id", "dt=2", 0, n_covered=0, n_refused=4, refused=reason, false_positives=None),
        found("id", "dt=1", 1),
    ]
    ingested(lake, row, rows, now)
    client = Client()
    client.force_login(people.owner)
    text = client.get(PAGE).content.decode()
    assert "does not pay" in text
    assert "bloom: it loads for 900 ms a look-up and saves 3 ms." in text
    assert "Nothing is dropped by itself" in text


def test_what_the_policy_names_is_judged_by_the_last_estimate() -> None:
    columns = [
        ColumnCoverage("id", "bloom", n_covered=4),
        ColumnCoverage("id", "bitmap", n_covered=4),
        ColumnCoverage("ms", "bloom"),
    ]
    kinds = [
        {"kind": "bloom", "decision": "refuse", "reason": "as many files"},
        {"kind": "bitmap", "decision": "build", "reason": "opens 1 file"},
    ]
    said = {"columns": [{"column": name, "kinds": kinds} for name in ("id", "ms")]}
    assert [(one.column, one.wanted) for one in that_do_not_pay(columns, said)] == [("id", "bloom")]
    assert that_do_not_pay(columns, None) == []


def test_indexes_are_built_now_on_request_with_a_reason(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    row = iceberg(now=now)
    listed("clicks", format="iceberg")
    policy(index_columns=["id"])
    client = Client()
    client.force_login(people.stranger)
    address = f"/optimizer/tables/{row.pk}/index/"
    assert client.post(address, {"reason": "slow look-ups"}).status_code == 404
    client.force_login(people.owner)
    assert client.post(address, {"reason": ""}).status_code == 400
    answer = client.post(address, {"reason": "slow look-ups"})
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    asked = OptimizeTask.objects.get(kind=TaskKind.INDEX)
    assert "slow look-ups" in asked.reason
    again = client.post(
        f"/api/v1/optimizer/tables/{row.pk}/index/",
        {"reason": "once more"},
        content_type="application/json",
    )
    assert again.status_code == 202
    assert again.json()["kind"] == "INDEX"
    assert OptimizeTask.objects.filter(kind=TaskKind.INDEX).count() == 1


def test_a_table_without_indexes_says_what_to_do(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    iceberg(now=now)
    listed("clicks", format="iceberg")
    client = Client()
    client.force_login(people.owner)
    text = client.get(PAGE).content.decode()
    assert "Name columns in the policy" in text
    assert "Build missing indexes" not in text
