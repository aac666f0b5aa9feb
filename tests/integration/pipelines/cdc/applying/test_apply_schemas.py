"""Values that do not fit, columns nobody has decided on, and tables that are held."""

import os
import time
from typing import Any

import pytest

from pipelines.cdc.applying.domain.messages import Column, Replay, SchemaPlan
from tests.support.changelogs import COLUMNS, NAMES, Pipeline, change, folded

pytestmark = pytest.mark.spark
NOTED = (*COLUMNS, Column("note", "string"))
WIDE = tuple(Column(one.name, "bigint" if one.name == "qty" else one.type) for one in COLUMNS)


def noted(op: Any, key: int, version: int, note: str | None) -> Any:
    """Return a change under the schema that has a note."""
    return change(op, key, version, schema=2, values={"note": note})


def test_a_value_that_does_not_fit_is_in_quarantine_until_its_type_is_wide_enough(
    pipeline: Pipeline,
) -> None:
    great = change("u", 1, 10, values={"qty": "3000000000"})
    pipeline.table()
    pipeline.log.write([change("c", 1, 1), change("c", 2, 2)])
    pipeline.log.write([great, change("u", 2, 11, values={"qty": "1.5"}), change("c", 3, 12)])
    pipeline.run(at_once=1)
    kept = [change("c", 1, 1), change("c", 2, 2), change("c", 3, 12)]
    assert pipeline.rows() == folded(kept)
    report = pipeline.report()
    assert (report.n_quarantined, report.n_in_quarantine, report.failure) == (2, 2, None)
    shown = [(one.reason, one.column, one.text, one.key) for one in report.quarantined]
    assert shown == [
        ("type", "qty", "1.5", '{"id":"2"}'),
        ("type", "qty", "3000000000", '{"id":"1"}'),
    ]

    # A newer row of a key makes what is in quarantine void; it is no longer open.
    pipeline.log.write([change("u", 2, 20)])
    pipeline.table(columns=WIDE, retry="widened")
    pipeline.run()
    report = pipeline.report()
    assert report.failure is None, report
    assert pipeline.rows() == folded([*kept, great, change("u", 2, 20)])
    assert report.columns == WIDE
    assert (report.n_in_quarantine, report.retried) == (1, "widened")


@pytest.mark.parametrize("kind", ["MOR", pytest.param("COW", marks=pytest.mark.long)])
def test_values_of_an_unknown_column_are_filled_once_it_is_approved(
    pipeline: Pipeline, kind: Any
) -> None:
    waits = SchemaPlan(2, live=NAMES, aside=("note",))
    pipeline.table(kind=kind, schemas=(SchemaPlan(1, live=NAMES), waits))
    pipeline.log.write([change("c", 1, 1), change("c", 2, 2)])
    pipeline.log.write(
        [
            noted("u", 1, 10, "a"),
            noted("c", 3, 11, "b"),
            noted("c", 4, 12, None),
            noted("c", 5, 13, "c"),
        ]
    )
    pipeline.log.write([noted("u", 1, 20, None), noted("d", 5, 21, None)])
    pipeline.run(at_once=1)
    report = pipeline.report()
    assert (report.failure, report.n_aside, report.aside) == (None, 5, {"note": 5})
    plain = pipeline.rows()

    live = SchemaPlan(2, live={**NAMES, "note": "note"})
    pipeline.table(
        columns=NOTED, schemas=(SchemaPlan(1, live=NAMES), live), replays=(Replay("r1", ("note",)),)
    )
    pipeline.log.write([noted("c", 6, 30, "d"), noted("u", 3, 31, "e")])
    pipeline.run()
    report = pipeline.report()
    assert (report.failure, report.replayed, report.columns) == (None, ("r1",), NOTED)
    notes = {row[0]: row[4] for row in pipeline.rows("carts", "note")}
    assert notes == {1: None, 2: None, 3: "e", 4: None, 6: "d"}
    assert [one for one in pipeline.rows() if one[0] not in {3, 6}] == [
        one for one in plain if one[0] != 3
    ]


def test_a_value_kept_aside_fills_the_row_of_its_own_version_alone(pipeline: Pipeline) -> None:
    waits = SchemaPlan(2, live=NAMES, aside=("note",))
    pipeline.table(schemas=(SchemaPlan(1, live=NAMES), waits))
    pipeline.log.write([noted("c", 1, 10, "old"), noted("c", 2, 11, "kept")])
    pipeline.log.write([change("u", 1, 20)])
    pipeline.run(at_once=1)
    live = SchemaPlan(2, live={**NAMES, "note": "note"})
    pipeline.table(
        columns=NOTED, schemas=(SchemaPlan(1, live=NAMES), live), replays=(Replay("r1", ("note",)),)
    )
    pipeline.run()
    assert [row[4] for row in pipeline.rows("carts", "note")] == [None, "kept"]
    pipeline.table(refused=("note",))
    pipeline.run()
    assert not list(pipeline.folder.rglob("of=note/*.parquet"))
    assert pipeline.report().aside == {}


def test_values_kept_aside_for_too_long_are_deleted(pipeline: Pipeline) -> None:
    waits = SchemaPlan(2, live=NAMES, aside=("note",))
    pipeline.table(schemas=(waits,), aside_days=2)
    for day, key in ((3, 1), (1, 2)):
        pipeline.log.write([noted("c", key, key, "kept")])
        pipeline.run()
        for file in pipeline.folder.rglob("of=note/*.parquet"):
            then = min(file.stat().st_mtime, time.time() - day * 86_400)
            os.utime(file, (then, then))
    pipeline.log.write([])
    pipeline.run()
    assert pipeline.report().aside == {"note": 1}


def test_a_held_table_waits_while_others_go_on(pipeline: Pipeline) -> None:
    held = [change("c", 1, 1), change("u", 1, 9), change("c", 2, 2)]
    pipeline.table(state="held")
    pipeline.table("orders")
    pipeline.log.write([*held, change("c", 7, 3, table="orders"), change("c", 8, 4, table="new")])
    pipeline.run()
    report = pipeline.report()
    assert (report.state, report.n_waiting, report.waiting_schemas) == ("held", 3, (1,))
    assert report.batches == ""
    assert pipeline.rows("orders") == folded([change("c", 7, 3)])
    assert pipeline.said().unknown == {"shop.new": 1}

    later = [change("d", 2, 20), change("c", 3, 21)]
    pipeline.table(state="live")
    pipeline.table("new")
    pipeline.log.write(later)
    pipeline.run()
    report = pipeline.report()
    assert (report.failure, report.n_waiting, report.batches) == (None, 0, "1-2")
    assert pipeline.rows() == folded([*held, *later])
    assert pipeline.rows("new") == folded([change("c", 8, 4)])


def test_records_of_a_schema_without_a_plan_wait_for_one(pipeline: Pipeline) -> None:
    pipeline.table()
    pipeline.log.write([change("c", 1, 1), noted("u", 1, 10, "x"), change("c", 2, 2)])
    pipeline.run()
    assert pipeline.report().waiting_schemas == (2,)
    # A commit names only batches of which nothing waits: who loses its progress reads it again.
    assert pipeline.report().batches == ""
    (pipeline.folder / "progress.json").unlink()
    assert pipeline.rows() == folded([change("c", 1, 1), change("c", 2, 2)])
    wrong = SchemaPlan(2, live={**NAMES, "note": "note", "gone": "note"})
    pipeline.table(columns=NOTED, schemas=(SchemaPlan(1, live=NAMES), wrong))
    pipeline.run()
    failure = pipeline.report().failure
    assert failure is not None
    assert failure.code == "cdc.plan"
    right = SchemaPlan(2, live={**NAMES, "note": "note"})
    pipeline.table(schemas=(SchemaPlan(1, live=NAMES), right))
    pipeline.run()
    assert pipeline.report().failure is None
    assert [row[4] for row in pipeline.rows("carts", "note")] == ["x", None]
