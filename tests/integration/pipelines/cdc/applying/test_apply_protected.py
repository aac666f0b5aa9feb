"""Protected columns: no plain value reaches the lake, and any order of batches gives one table."""

import base64
import hashlib
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.messages import Column, Replay, SchemaPlan
from pipelines.cdc.changes.domain.records import Change
from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.protecting.engine.ciphers import Protector, opened
from pipelines.cdc.protecting.jobs.reading import decrypted
from tests.support.changelogs import COLUMNS, NAMES, Pipeline, change, folded

pytestmark = pytest.mark.spark
ONE, TWO = (base64.b64encode(hashlib.sha256(one).digest()).decode() for one in (b"1", b"2"))
PROTECTED = {"id": "deterministic:DET", "day": "deterministic:DET", "word": "encrypted:PII"}
HIDDEN = tuple(Column(one.name, "string" if one.name in PROTECTED else one.type) for one in COLUMNS)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_PII", ONE)
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_DET", ONE)


def stored(pipeline: Pipeline, name: str = "carts", *more: str) -> list[tuple[Any, ...]]:
    frame = pipeline.spark.read.format("hudi").load(pipeline.tables[name].location)
    return sorted(tuple(row) for row in frame.select("id", "day", "word", "qty", *more).collect())


def plain(pipeline: Pipeline, name: str = "carts") -> list[tuple[Any, ...]]:
    """Return the rows as one reads them who has the keys."""
    frame = pipeline.spark.read.format("hudi").load(pipeline.tables[name].location)
    shown = decrypted(frame, f"lake.{name}", ["id", "day", "word"])
    rows = shown.select(F.col("id").cast("bigint"), "day", "word", "qty", "_lw_version").collect()
    return sorted(tuple(row) for row in rows)


@pytest.mark.parametrize(("kind", "partition"), [("MOR", "day"), ("COW", "")])
def test_any_order_of_batches_gives_one_table_and_it_is_encrypted(
    pipeline: Pipeline, kind: Any, partition: str
) -> None:
    chance = random.Random(f"{kind}{partition}")
    changes: list[Change] = [
        change(chance.choice("cuudr"), chance.randrange(10), version) for version in range(1, 41)
    ]
    for name in ("carts", "again"):
        chance.shuffle(changes)
        pipeline.table(name, kind=kind, partition=partition, columns=HIDDEN, protections=PROTECTED)
        moved = [msgspec.structs.replace(one, table=name) for one in changes]
        for batch in (moved[:20], moved[20:], moved[10:30]):
            pipeline.log.write(batch)
    pipeline.run(at_once=1)
    for name in ("carts", "again"):
        report = pipeline.report(name)
        assert (report.failure, report.n_in_quarantine) == (None, 0), report
        assert plain(pipeline, name) == folded(changes)
    # The same values under other orders; what is bound to its table differs by table alone.
    ids = [[row[:2] for row in stored(pipeline, name)] for name in ("carts", "again")]
    assert ids[0] == ids[1]
    assert all(row[0].startswith("lw2:DET.") for row in ids[0])
    files = Path(str(pipeline.tables["carts"].location).removeprefix("file:")).rglob("*")
    data = b"".join(one.read_bytes() for one in files if one.is_file())
    assert not [row[2] for row in folded(changes) if row[2] and f'"{row[2]}"'.encode() in data]


def test_masks_keep_what_they_say_and_what_does_not_fit_is_not_shown(pipeline: Pipeline) -> None:
    masks = {"day": "year", "word": "show_last_4", "qty": "nullify"}
    columns = tuple(Column(one.name, "date" if one.name == "day" else one.type) for one in COLUMNS)
    pipeline.table(columns=columns, protections=masks)
    long = change("c", 1, 1, values={"word": "0911222333"})
    bad = change("c", 2, 2, values={"day": "secret day"})
    pipeline.log.write([long, bad])
    pipeline.run()
    report = pipeline.report()
    assert report.n_in_quarantine == 1
    assert [(one.column, one.text, one.key) for one in report.quarantined] == [
        ("day", None, '{"id":"2"}')
    ]
    ((key, day, word, qty),) = stored(pipeline)
    assert (key, str(day), word, qty) == (1, "2026-01-01", "xxxx2333", None)
    kept = pipeline.spark.read.parquet(*map(str, pipeline.folder.rglob("quarantine/*.parquet")))
    (row,) = kept.collect()
    assert [(one.reason, one.column, one.text) for one in row.unfit] == [("type", "day", "")]


def test_a_missing_key_stops_its_table_alone(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAKEWARDEN_CDC_KEY_PII")
    pipeline.table(columns=HIDDEN, protections=PROTECTED)
    pipeline.table("orders")
    pipeline.log.write([change("c", 1, 1), change("c", 7, 3, table="orders")])
    pipeline.run()
    failure = pipeline.report().failure
    assert failure is not None
    assert failure.code == "cdc.key_missing"
    assert "LAKEWARDEN_CDC_KEY_PII" in failure.message
    assert pipeline.rows("orders") == folded([change("c", 7, 3)])

    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_PII", ONE)
    pipeline.run()
    assert pipeline.report().failure is None
    assert plain(pipeline) == folded([change("c", 1, 1)])


def test_a_key_is_rotated_but_not_one_by_which_rows_are_found(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.table(columns=HIDDEN, protections=PROTECTED)
    first = [change("c", 1, 1), change("c", 2, 2), change("c", 3, 3)]
    pipeline.log.write(first)
    pipeline.run()
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_PII", f"{TWO},{ONE}")
    later = change("u", 2, 10)
    # A change that comes again is no contradiction, though its text is another.
    pipeline.log.write([later, first[0]])
    pipeline.run()
    assert (pipeline.report().failure, pipeline.report().n_in_quarantine) == (None, 0)
    assert plain(pipeline) == folded([*first, later])
    assert len({row[2].split(":")[1] for row in stored(pipeline)}) == 2

    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_DET", TWO)
    pipeline.log.write([change("u", 1, 20)])
    pipeline.run()
    failure = pipeline.report().failure
    assert failure is not None
    assert failure.code == "cdc.key_changed"
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_DET", ONE)
    pipeline.run()
    assert plain(pipeline) == folded([*first, later, change("u", 1, 20)])


def test_values_kept_aside_are_filled_in_encrypted(pipeline: Pipeline) -> None:
    waits = SchemaPlan(2, live=NAMES, aside=("note",))
    pipeline.table(
        columns=HIDDEN, protections=PROTECTED, schemas=(SchemaPlan(1, live=NAMES), waits)
    )
    noted = [change("c", n, n, schema=2, values={"note": f"n{n}"}) for n in (1, 2)]
    pipeline.log.write(noted)
    pipeline.run()
    live = SchemaPlan(2, live={**NAMES, "note": "note"})
    pipeline.table(
        columns=(*HIDDEN, Column("note", "string")),
        protections=PROTECTED | {"note": "encrypted:PII"},
        schemas=(SchemaPlan(1, live=NAMES), live),
        replays=(Replay("r1", ("note",)),),
    )
    pipeline.run()
    report = pipeline.report()
    assert (report.failure, report.replayed, report.n_in_quarantine) == (None, ("r1",), 0)
    notes = [row[4] for row in stored(pipeline, "carts", "note")]
    env = {"LAKEWARDEN_CDC_KEY_PII": ONE}
    assert sorted(str(opened(one, "lake.carts", "note", env)) for one in notes) == ["n1", "n2"]
    how = Protection.parse("encrypted:PII")
    # As if it had come with its row: a repeated batch is no contradiction.
    again = Protector.of(how, "lake.carts", "note", env).stored("n1", '{"id":"1"}', 1)
    assert again in notes


def test_a_table_of_another_place_gets_all_that_the_changelog_has(pipeline: Pipeline) -> None:
    pipeline.table()
    pipeline.table("orders")
    before = [change("c", 1, 1), change("c", 2, 2)]
    pipeline.log.write([*before, change("c", 7, 3, table="orders")])
    pipeline.run()
    place = f"file:{pipeline.place}/lake{pipeline.number}/carts_2"
    pipeline.table(location=place, target_table="carts_2", columns=HIDDEN, protections=PROTECTED)
    pipeline.log.write([change("d", 2, 10)])
    pipeline.run()
    assert pipeline.report().failure is None, pipeline.report()
    frame = pipeline.spark.read.format("hudi").load(place)
    shown = decrypted(frame, "lake.carts_2", ["id"]).select("id", "qty").collect()
    assert [tuple(row) for row in shown] == [("1", 1)]
    assert pipeline.rows("orders") == folded([change("c", 7, 3)])
