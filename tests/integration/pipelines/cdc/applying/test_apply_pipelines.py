"""Two changelogs in one program, a poison line, lost progress, a table that was restored."""

import shutil
from pathlib import Path

import pytest

from tests.support.changelogs import Pipeline, change, folded

pytestmark = pytest.mark.spark


def test_a_poison_line_stops_its_pipeline_alone_until_it_is_mended(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    other = Pipeline(pipeline.spark, pipeline.config, tmp_path, number=2)
    for one in (pipeline, other):
        one.table()
        one.log.write([change("c", 1, 1)])
    number = pipeline.log.write([change("c", 2, 2), change("c", 3, 3)])
    good = pipeline.log.place(number).read_bytes()
    pipeline.log.put(number, good.replace(b'"op":"c"', b'"op":"x"', 1))
    pipeline.log.write([change("c", 4, 4)])
    other.log.write([change("u", 1, 5)])
    pipeline.run(other, at_once=1)
    failure = pipeline.said().failure
    assert failure is not None
    assert (failure.code, pipeline.said().state) == ("cdc.record", "failing")
    assert f"Batch {number}" in failure.message
    assert pipeline.rows() == folded([change("c", 1, 1)])
    assert other.rows() == folded([change("u", 1, 5)])
    assert other.said().failure is None

    # Lines that are gone are no better than lines that cannot be read.
    pipeline.log.put(number, good.rpartition(b"\n{")[0] + b"\n")
    pipeline.run()
    failure = pipeline.said().failure
    assert failure is not None
    assert failure.code == "cdc.batch"
    pipeline.log.put(number, good)
    pipeline.run()
    assert pipeline.said().failure is None
    assert pipeline.rows() == folded([change("c", key, key) for key in range(1, 5)])


def test_lost_progress_and_a_restored_table_cost_nothing_but_time(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    changes = [change("c", 1, 1), change("c", 2, 2), change("d", 1, 3), change("u", 2, 4)]
    pipeline.table(kind="COW")
    for one in changes[:2]:
        pipeline.log.write([one])
    pipeline.run()
    lake, copy = tmp_path / "lake1" / "carts", tmp_path / "copy"
    shutil.copytree(lake, copy)
    for one in changes[2:]:
        pipeline.log.write([one])
    pipeline.run()
    assert pipeline.rows() == folded(changes)
    assert pipeline.report().batches == "1-4"

    shutil.rmtree(lake)
    shutil.copytree(copy, lake)
    pipeline.run()
    assert pipeline.report().failure is None
    assert (pipeline.rows(), pipeline.report().batches) == (folded(changes), "1-4")

    (pipeline.folder / "progress.json").unlink()
    pipeline.run()
    report = pipeline.report()
    assert (report.n_upserted, report.n_deleted, report.batches) == (0, 0, "1-4")
    assert pipeline.rows() == folded(changes)

    # What is removed before it was applied is said, and not passed over.
    shutil.rmtree(lake)
    pipeline.log.place(1).unlink()
    pipeline.run()
    failure = pipeline.said().failure
    assert failure is not None
    assert failure.code == "cdc.trimmed"


def test_equal_versions_with_two_contents_and_a_late_delete(pipeline: Pipeline) -> None:
    torn = [change("u", 2, 20), change("u", 2, 20, values={"word": "other"})]
    pipeline.table()
    pipeline.log.write([change("c", 1, 10), change("c", 2, 2), change("c", 3, 3)])
    pipeline.log.write([change("d", 1, 5), *torn, change("c", 4, 21), change("c", 4, 21)])
    pipeline.log.write([change("c", 3, 4), change("d", 3, 30), change("u", 3, 29)])
    pipeline.run(at_once=1)
    report = pipeline.report()
    assert (report.n_in_quarantine, report.failure) == (2, None), report
    assert pipeline.rows() == folded([change("c", 1, 10), change("c", 2, 2), change("c", 4, 21)])
    assert (report.n_deleted, report.n_late) == (1, 4)


def test_a_table_of_another_pipeline_is_not_written(pipeline: Pipeline, tmp_path: Path) -> None:
    mine = pipeline.table(owner="first")
    pipeline.log.write([change("c", 1, 1)])
    pipeline.run()
    other = Pipeline(pipeline.spark, pipeline.config, tmp_path, number=2)
    other.table(location=mine.location, owner="second")
    # Its first batch has the number of one that the table has.
    other.log.write([change("c", 2, 5)])
    pipeline.log.write([change("u", 1, 2)])
    pipeline.run(other)
    failure = other.said().failure
    assert failure is not None
    assert failure.code == "cdc.foreign_table"
    assert pipeline.rows() == folded([change("u", 1, 2)])
