"""The demo's stream over a real metastore: small files in commits that the table remembers."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.lake import stream
from stack.lake.clicks import OWNER
from stack.lake.stream import DAYS, FILES_A_BEAT, FILES_A_DAY, Stream
from stack.stack import LAKE
from tests.support.iceberg_lake import IcebergLake

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def clicks(iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch) -> Stream:
    monkeypatch.setattr(stream, "ROWS_A_FILE", 40)
    name = f"lake.{iceberg_lake.db}.clicks_live"
    iceberg_lake.spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    return Stream(iceberg_lake.spark, name)


def files(clicks: Stream, what: str = "data_files") -> list[Any]:
    return clicks.spark.table(f"{clicks.table}.{what}").collect()


def test_the_stream_goes_on_where_it_stood_and_leaves_small_files_and_deletes(
    clicks: Stream, iceberg_lake: IcebergLake
) -> None:
    for _ in range(2):  # made again it is as it was
        clicks.make(now=NOW)
    assert clicks.n_beats() == 0
    assert len(files(clicks)) == DAYS * FILES_A_DAY
    assert len({row["partition"] for row in files(clicks)}) == DAYS
    with Metastore.connect(iceberg_lake.config) as metastore:
        name = TableName(LakeId(LAKE), iceberg_lake.db, "clicks_live")
        assert metastore.table(name).owner == OWNER

    for number in (1, 2):
        assert clicks.n_beats() == number - 1
        clicks.beat(number, now=NOW + timedelta(seconds=20 * number))
    assert Stream(clicks.spark, clicks.table).n_beats() == 2, "the table itself remembers"
    assert len(files(clicks)) == DAYS * FILES_A_DAY + 2 * FILES_A_BEAT
    assert files(clicks, "delete_files") == []

    n_before = clicks.spark.table(clicks.table).count()
    clicks.beat(8, now=NOW + timedelta(minutes=5))
    assert files(clicks, "delete_files"), "rows are marked, not rewritten"
    assert clicks.spark.table(clicks.table).count() < n_before + FILES_A_BEAT * 40
    assert len({row["partition"] for row in files(clicks, "delete_files")}) == 1, "of the day"
    assert clicks.n_beats() == 8
