"""Any order and any repetition of batches gives the table that a fold by version gives."""

import random
from typing import Any

import pytest

from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.changes.domain.records import Change
from tests.support.changelogs import Pipeline, change, folded

pytestmark = pytest.mark.spark


def history(chance: random.Random, n: int) -> list[Change]:
    """Return changes of few keys, so that they are deleted and come back often."""
    return [
        change(chance.choice("cuudr"), chance.randrange(10), version) for version in range(1, n + 1)
    ]


@pytest.mark.parametrize(
    ("kind", "partition"),
    [
        ("MOR", ""),
        ("COW", "day"),
        pytest.param("MOR", "day", marks=pytest.mark.long),
        pytest.param("COW", "", marks=pytest.mark.long),
    ],
)
def test_shuffled_and_repeated_batches_give_the_fold(
    pipeline: Pipeline, kind: Any, partition: str
) -> None:
    chance = random.Random(f"{kind}{partition}")
    changes = history(chance, 60)
    chance.shuffle(changes)
    batches = [changes[n : n + 20] for n in range(0, 60, 20)]
    pipeline.table(kind=kind, partition=partition)
    for batch in (*batches, batches[0] + batches[1]):
        pipeline.log.write(batch)
    pipeline.run(at_once=1)

    assert pipeline.said().failure is None, pipeline.said()
    report = pipeline.report()
    assert report.failure is None, report
    assert pipeline.rows() == folded(changes)
    assert not Numbers.of([1, 2, 3]) - Numbers.parse(report.batches)
    assert report.version == 60
    # What readers see has no column of ours but the version.
    columns = pipeline.spark.read.format("hudi").load(pipeline.tables["carts"].location).columns
    own = [name for name in columns if not name.startswith("_hoodie_")]
    assert sorted(own) == ["_lw_version", "day", "id", "qty", "word"]
