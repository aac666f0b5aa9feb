"""Many new rows are inserted without a look-up, and never where the table may have their keys."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from pipelines.cdc.applying.jobs import table
from pipelines.cdc.changes.domain.records import Change
from tests.support.changelogs import Pipeline, change, folded

pytestmark = pytest.mark.spark
_LOAD = 100


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MANY", 5)


def operations(pipeline: Pipeline) -> list[str]:
    """Return the operations of the table's commits, in their order."""
    jvm: Any = pipeline.spark.sparkContext._jvm
    conf = pipeline.spark.sparkContext._jsc.hadoopConfiguration()
    common = jvm.org.apache.hudi.common.table
    storage = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(conf)
    builder = common.HoodieTableMetaClient.builder().setConf(storage)
    location = pipeline.tables["carts"].location
    timeline = builder.setBasePath(location).build().getActiveTimeline()
    done = timeline.getCommitsTimeline().filterCompletedInstants()
    return [
        str(common.timeline.TimelineUtils.getCommitMetadata(one, done).getOperationType())
        for one in done.getInstants()
    ]


def load(*keys: int) -> list[Change]:
    """Return rows of a full load, all at one position."""
    return [change("r", key, _LOAD) for key in keys]


def applied(pipeline: Pipeline, batches: Sequence[Sequence[Change]]) -> None:
    for batch in batches:
        pipeline.log.write(batch)
    pipeline.run(at_once=1)
    assert pipeline.said().failure is None, pipeline.said()
    report = pipeline.report()
    assert report.failure is None, report
    assert pipeline.rows() == folded(one for batch in batches for one in batch)


@pytest.mark.parametrize("partition", ["", "day"])
def test_a_load_is_inserted_but_for_what_is_there(pipeline: Pipeline, partition: str) -> None:
    pipeline.table(kind="MOR", partition=partition)
    batches = [
        load(*range(10, 20)),
        load(*range(20, 30)),  # of the same position, and of other keys
        [change("u", 30, _LOAD + 5), change("d", 31, _LOAD + 6)],  # before its chunk is read
        load(*range(25, 35)),  # 30 is newer in the table, 31 has a tombstone
        load(*range(40, 50)),
    ]
    applied(pipeline, batches)

    kinds = operations(pipeline)
    assert kinds.count("BULK_INSERT") == 3, kinds
    assert [row[0] for row in pipeline.rows()] == [*range(10, 31), *range(32, 35), *range(40, 50)]


def test_a_key_of_two_changes_and_one_that_does_not_fit(pipeline: Pipeline) -> None:
    pipeline.table()
    bad = change("r", 7, _LOAD, values={"qty": "many"})
    twice = [change("c", 8, _LOAD + 2), change("u", 8, _LOAD + 3)]
    pipeline.log.write([*load(*range(7)), bad])
    pipeline.log.write([*twice, *load(*range(10, 20))])
    pipeline.run(at_once=1)

    assert pipeline.rows() == folded([*load(*range(7)), *twice, *load(*range(10, 20))])
    report = pipeline.report()
    assert report.n_in_quarantine == 1
    assert report.n_upserted == 18
    pipeline.table(columns=pipeline.tables["carts"].columns, retry="again")
    pipeline.run()
    assert pipeline.report().n_in_quarantine == 1, "its line is whole: it was tried again"


def test_any_order_of_loads_and_changes_gives_the_fold(pipeline: Pipeline) -> None:
    chance = random.Random(47)
    pipeline.table()
    batches: list[list[Change]] = [load(*range(n, n + 8)) for n in range(0, 40, 8)]
    for n in range(4):
        keys = chance.sample(range(48), 8)
        versions = range(_LOAD - 20 + n * 10, _LOAD + n * 10)
        batches.append(
            [
                change("c" if n % 2 else chance.choice("cud"), key, version)
                for key, version in zip(keys, versions, strict=False)
            ]
        )
    chance.shuffle(batches)
    applied(pipeline, [*batches, batches[0], batches[4] + batches[7]])
