"""Which files are orphans: never a known one, never a young one, never outside of the place."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.maintenance.domain.orphans import (
    FoundFile,
    Known,
    Left,
    old_before_ms,
    reason_left,
)
from portal.lake.paths import LakePath

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
PLACE = LakePath.parse("hdfs://nn/lake/a b.db/clicks")
BEFORE = old_before_ms(orphan_days=7, now=NOW)
NAMES = st.sampled_from(["data", "dt=1", "_x", ".y", "a.parquet", "b%20c.avro", "é?*", "metadata"])


def known(*texts: str) -> Known:
    found = Known()
    found.add(texts)
    return found


def reason(path: str, *, age: int = 30, knows: tuple[str, ...] = ()) -> Left | None:
    at = int((NOW - timedelta(days=age)).timestamp() * 1000)
    file = FoundFile(LakePath.parse(path, default_fs="hdfs://nn"), 10, at)
    return reason_left(file, place=PLACE, known=known(*knows), before_ms=BEFORE)


def test_an_old_file_that_nothing_names_is_an_orphan() -> None:
    assert reason("hdfs://nn/lake/a b.db/clicks/data/x.parquet") is None


@pytest.mark.parametrize(
    "spelling",
    [
        "hdfs://nn/lake/a b.db/clicks/data/x.parquet",
        "hdfs://nn:8020/lake/a b.db/clicks/data/x.parquet",
        "hdfs:/lake/a b.db/clicks/data/x.parquet",
        "hdfs:///lake/a b.db/clicks//data/x.parquet",
        "/lake/a b.db/clicks/data/x.parquet",
        "viewfs://other/lake/a b.db/clicks/data/x.parquet",
    ],
)
def test_whatever_the_spelling_a_named_file_is_known(spelling: str) -> None:
    assert reason("hdfs://nn/lake/a b.db/clicks/data/x.parquet", knows=(spelling,)) is Left.KNOWN


def test_a_name_that_is_known_elsewhere_is_doubtful() -> None:
    for text in ("hdfs://nn/lake/a%20b.db/clicks/data/x.parquet", "s3://b/q/../x.parquet"):
        found = reason("hdfs://nn/lake/a b.db/clicks/data/x.parquet", knows=(text,))
        assert found is Left.DOUBTFUL


def test_young_hidden_and_foreign_files_are_left() -> None:
    inside = "hdfs://nn/lake/a b.db/clicks"
    assert reason(f"{inside}/data/x.parquet", age=6) is Left.YOUNG
    assert reason(f"{inside}/data/x.parquet", age=-1) is Left.YOUNG
    assert reason(f"{inside}/_lakewarden/x") is Left.HIDDEN
    assert reason(f"{inside}/data/.x.crc") is Left.HIDDEN
    assert reason(f"{inside}/metadata/version-hint.text") is Left.KNOWN
    for path in (inside, f"{inside}_2/x", "hdfs://nn/lake/x", "hdfs://mm/lake/a b.db/clicks/x"):
        assert reason(path) is Left.OUTSIDE


def test_the_policy_may_ask_for_more_days_never_for_fewer_than_three() -> None:
    three = int((NOW - timedelta(days=3)).timestamp() * 1000)
    assert {old_before_ms(orphan_days=days, now=NOW) for days in (-5, 0, 2, 3)} == {three}
    assert old_before_ms(orphan_days=9, now=NOW) < three


@given(
    st.lists(NAMES, min_size=1, max_size=4),
    st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=4),
    st.integers(-5, 40),
    st.booleans(),
)
def test_never_a_known_a_young_or_a_foreign_file(
    path: list[str], others: list[list[str]], age: int, is_inside: bool
) -> None:
    root = PLACE if is_inside else replace(PLACE, path="/lake/other")
    file = FoundFile(root.child(*path), 1, int((NOW - timedelta(days=age)).timestamp() * 1000))
    texts = [str(PLACE.child(*one)) for one in others]
    found = reason_left(file, place=PLACE, known=known(*texts), before_ms=BEFORE)
    if found is None:
        assert is_inside
        assert age >= 7
        assert str(file.path) not in texts
        assert file.path.name not in {one[-1] for one in others}
        assert not any(name.startswith(("_", ".")) for name in path)
