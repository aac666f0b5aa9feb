"""What a materialization's commit says of its rows is understood, or answers nothing."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from optimizer.rewriting.domain.described import described_aggregate
from portal.lake.aggregates import SourceCommit, StoredDimension, StoredJoin, StoredMeasure
from portal.lake.errors import RuleViolation

ANSWERS = {
    "version": 1,
    "fact": "db.rows",
    "rows_column": "_lw_n",
    "time_zone": "UTC",
    "columns": {"fact.dt": "string"},
    "dimensions": [{"name": "dt", "expression": "fact.dt", "type": "string", "column": "dt"}],
    "measures": [
        {"name": "_lw_m0", "expression": "fact.qty", "type": "int", "states": {"sum": "`s`"}}
    ],
    "joins": [{"alias": "d1", "table": "db.shops", "on": [["fact.shop", "id"]]}],
    "filters": ["fact.id > 3"],
}
POSITIONS = {"db.rows": {"table": "file:/rows", "commit": "7"}, "db.shops": {"table": "u"}}


def said(**answers: Any) -> str:
    note = {"definition": "x", "n_rows": 9, "asked_at": 60, "answers": {**ANSWERS, **answers}}
    return json.dumps(note)


def test_a_description_is_read_as_it_was_written() -> None:
    found = described_aggregate("db.kept", json.dumps(POSITIONS), said())
    assert (found.table, found.source, found.source_rows) == ("db.kept", "db.rows", 9)
    assert found.dimensions == (StoredDimension("dt", "fact.dt", "string", "dt"),)
    assert found.measures == (StoredMeasure("_lw_m0", "fact.qty", "int", {"sum": "`s`"}),)
    assert found.joins == (StoredJoin("d1", "db.shops", (("fact.shop", "id"),)),)
    assert found.commits == {
        "db.rows": SourceCommit("file:/rows", "7"),
        "db.shops": SourceCommit("u", ""),
    }
    assert found.known_at == datetime(1970, 1, 1, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("positions", "note", "why"),
    [
        (json.dumps(POSITIONS), "", "does not say what it is of"),
        (json.dumps(POSITIONS), json.dumps({"definition": "x"}), "does not say what it is of"),
        (json.dumps(POSITIONS), said(version=2), "a version that is not known here"),
        (json.dumps(POSITIONS), said(dimensions="dt"), "cannot be read"),
        (json.dumps(POSITIONS), "{", "cannot be read"),
        ("[]", said(), "cannot be read"),
    ],
)
def test_what_is_not_understood_is_refused(positions: str, note: str, why: str) -> None:
    with pytest.raises(RuleViolation, match=why):
        described_aggregate("db.kept", positions, note)
