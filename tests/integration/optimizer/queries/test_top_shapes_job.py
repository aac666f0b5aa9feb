"""The shapes that cost most, against a count of every row."""

import random
from collections import defaultdict
from datetime import timedelta
from typing import Any

import pytest

from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.jobs.kept_table import known_table
from optimizer.queries.jobs.top_shapes import top_shapes
from tests.integration.optimizer.queries.kept_lake import NOW, KeptLake, named, query, segment
from tests.support.iceberg_lake import IcebergLake

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def asked() -> list[QueryRecord]:
    """Queries of twenty shapes over forty days, a few shapes far more often than others."""
    drawn = random.Random(7)
    found = []
    for n in range(3_000):
        shape = min(int(drawn.expovariate(0.25)), 19)
        ended = NOW - timedelta(seconds=drawn.randrange(40 * 86_400))
        found.append(
            query(
                n,
                f"SELECT c{shape} FROM shop.ev WHERE uid = {n}",
                ended_at=ended,
                seconds=None if n % 17 == 0 else drawn.lognormvariate(0, 1.5),
                n_bytes=drawn.randrange(10_000),
                is_failed=n % 29 == 0,
                share=drawn.choice([None, 0.1, 0.9]),
                tables=("shop.ev", "shop.dim") if shape % 3 == 0 else ("shop.ev",),
                names_all_tables=shape != 4,
            )
        )
    return found


def by_hand(asked: list[QueryRecord]) -> dict[str, dict[str, Any]]:
    first = (NOW.date() - timedelta(days=27)), (NOW.date() - timedelta(days=13))
    found: dict[str, dict[str, Any]] = {}
    groups = defaultdict(list)
    for one in asked:
        assert one.ended_at is not None
        if one.ended_at.date() >= first[0]:
            groups[one.text.split(" WHERE")[0]].append(one)
    for name, ones in groups.items():
        took = sorted(one.seconds for one in ones if one.seconds is not None)
        shares = [scan.share for one in ones for scan in one.scans if scan.share is not None]
        lately = [one for one in ones if one.ended_at and one.ended_at.date() >= first[1]]
        found[f"{name} WHERE uid = ?"] = {
            "n_queries": len(ones),
            "n_failed": sum(one.is_failed for one in ones),
            "seconds": sum(took),
            "n_bytes": sum(one.n_bytes for one in ones),
            "p50": took[-(-len(took) // 2) - 1],
            "p95": took[-(-len(took) * 95 // 100) - 1],
            "seconds_lately": sum(one.seconds or 0 for one in lately),
            "share": sum(shares) / len(shares),
            "tables": sorted({scan.table for one in ones for scan in one.scans}),
            "names_all_tables": all(one.names_all_tables for one in ones),
            "n_days": len({one.ended_at.date() for one in ones if one.ended_at}),
        }
    return found


def test_the_heaviest_shapes_are_those_of_a_count_by_hand(
    iceberg_lake: IcebergLake, asked: list[QueryRecord]
) -> None:
    kept = KeptLake.of(iceberg_lake)
    for age in range(40, -1, -5):
        now = NOW - age * DAY
        part = [one for one in asked if one.ended_at and now - 5 * DAY < one.ended_at <= now]
        kept.keep(named(segment(part, now=now), now=now), now=now)
    found = top_shapes(known_table(iceberg_lake.spark, kept.name), now=NOW, most=12)
    expected = by_hand(asked)
    heaviest = sorted(expected, key=lambda name: -expected[name]["seconds"])[:12]
    assert [one["text"] for one in found] == heaviest
    for one in found:
        right = expected[one["text"]]
        for name in ("n_queries", "n_failed", "n_bytes", "names_all_tables"):
            assert one[name] == right[name], (one["text"], name)
        for name in ("seconds", "seconds_lately", "share"):
            assert one[name] == pytest.approx(right[name]), (one["text"], name)
        for name in ("p50", "p95"):
            assert one[name] == pytest.approx(right[name], rel=0.0101), (one["text"], name)
        assert one["seconds_before"] == pytest.approx(right["seconds"] - right["seconds_lately"])
        assert [each["table"] for each in one["tables"]] == right["tables"]
        assert len(one["days"]) == right["n_days"]
        assert sum(each["n_queries"] for each in one["days"]) == right["n_queries"]
        assert one["engine"] == "trino"


def test_a_folded_row_counts_as_its_queries(iceberg_lake: IcebergLake) -> None:
    kept = KeptLake.of(iceberg_lake)
    kept.keep(named(segment([query(n, "SELECT a FROM t", seconds=0.5) for n in range(900)])))
    (found,) = top_shapes(known_table(iceberg_lake.spark, kept.name), now=NOW, most=9)
    assert (found["n_queries"], found["seconds"], found["n_bytes"]) == (900, 450.0, 90_000)
    assert found["p50"] == pytest.approx(0.5, rel=0.0101)
    assert found["p95"] == pytest.approx(0.5, rel=0.0101)
    assert found["share"] == 0.5


def test_an_empty_table_has_no_shapes(iceberg_lake: IcebergLake) -> None:
    kept = KeptLake.of(iceberg_lake)
    kept.keep({})
    assert top_shapes(known_table(iceberg_lake.spark, kept.name), now=NOW, most=9) == []
