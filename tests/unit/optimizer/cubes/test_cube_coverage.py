"""Coverage of cubes: golden files, judgements, and what is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.cubes.domain import coverage as coverages
from optimizer.cubes.domain.coverage import CoveredFile, judge, parse, serialise
from portal.lake.errors import RuleViolation
from tests.golden.cubes import make

_HERE = Path(make.__file__).parent


def test_golden_files_are_what_this_version_writes() -> None:
    for name, data in make.contents().items():
        assert (_HERE / name).read_bytes() == data, name


def test_a_coverage_comes_back_as_it_was_written() -> None:
    assert parse(serialise(make.COVERAGE), table_uuid=make.TABLE_UUID, definition_version=3) == (
        make.COVERAGE
    )


def test_a_unit_counts_only_with_all_its_files_as_they_were() -> None:
    changed = CoveredFile(make.FILES[1].location, 200, "")
    found = judge(make.COVERAGE, snapshot_id=1, live=[make.FILES[0], changed, make.FILES[2]])
    assert found.units == (1,)
    assert found.uncovered == (changed.location, make.FILES[2].location)
    assert (found.covered_rows, found.uncovered_rows, found.uncovered_files) == (100, 500, 2)
    assert found.uncovered_share == pytest.approx(5 / 6)


def test_another_snapshot_needs_its_files() -> None:
    with pytest.raises(RuleViolation, match="planned"):
        judge(make.COVERAGE, snapshot_id=1)


def _changed(**values: Any) -> bytes:
    data = json.loads(gzip.decompress(serialise(make.COVERAGE)))
    return gzip.compress(json.dumps({**data, **values}).encode(), mtime=0)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (b"", "damaged"),
        (b"no gzip", "damaged"),
        (serialise(make.COVERAGE)[:-9], "damaged"),
        (gzip.compress(b"[1]", mtime=0), "damaged"),
        (gzip.compress(b"[" * 100_000, mtime=0), "damaged"),
        (_changed(version=2), "newer"),
        (_changed(format="other"), "foreign"),
        (_changed(table_uuid="another"), "foreign"),
        (_changed(definition_version=2), "stale"),
        (_changed(units=[[1, [0], 1, 1], [1, [1], 1, 1]]), "damaged"),
        (_changed(units=[[1, [0], 1, 1], [2, [0], 1, 1]]), "damaged"),
        (_changed(units=[[1, [9], 1, 1]]), "damaged"),
        (_changed(units=[[1, [-1], 1, 1]]), "damaged"),
        (_changed(units=[[1, [], 1, 1]]), "damaged"),
        (_changed(files=[["x", 1, ""], ["x", 1, ""]], units=[]), "damaged"),
        (
            _changed(files=[["x", 1, ""], ["x", 1, "d"]], units=[[1, [0], 1, 1], [2, [1], 1, 1]]),
            "damaged",
        ),
        (_changed(snapshot_id="12"), "damaged"),
        (_changed(exact=None), "damaged"),
    ],
)
def test_what_cannot_be_trusted_is_refused(source: bytes, why: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        parse(source, table_uuid=make.TABLE_UUID, definition_version=3)
    assert refused.value.fields["why"] == why


def test_a_fingerprint_of_deletes_does_not_depend_on_their_order() -> None:
    deletes = [("b", None), ("a", 4), ("a", None)]
    assert coverages.delete_fingerprint(deletes) == coverages.delete_fingerprint(deletes[::-1])
    assert coverages.delete_fingerprint(deletes[:1]) != coverages.delete_fingerprint([("b", 0)])
    assert coverages.delete_fingerprint([]) == ""
