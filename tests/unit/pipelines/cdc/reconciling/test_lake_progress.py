"""Waiting for the lake outlasts a changelog that is away, and nothing that a person corrects."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.cdc.applying.domain.messages import Column, SchemaPlan, TableOrder
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Header
from pipelines.cdc.reconciling.jobs import lake_progress
from pipelines.cdc.reconciling.jobs.lake_progress import LakeProgress
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import ExternalFailure, StaleState
from portal.lake.paths import LakePath

HERE = Position.parse("0:bin.000001:500")
HEAD = Header("shop", 1, "0:bin.000001:0", "0:bin.000001:500", 1_000, 0)


@pytest.fixture
def progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], tuple[int, Header] | None]], LakeProgress]:
    """Return how a table is whose lake has the batches up to 3."""
    monkeypatch.setattr(lake_progress, "_PAUSE", 0.01)
    said = {"tables": {"7": {"known": "1-3", "replayed": []}}}
    (tmp_path / "progress.json").write_text(json.dumps(said))
    order = TableOrder(
        *(7, "shop", "carts", "lake", "carts", "file:/lake/carts", (Column("id", "int"),)),
        key=("id",),
        schemas=(SchemaPlan(1, live={"id": "id"}),),
    )
    folder = LakePath.parse(f"file:{tmp_path}")
    return lambda end: LakeProgress(end, LocalFileSystem(), folder, order, 1, lambda: None)


def away(*, retryable: bool) -> ExternalFailure:
    return ExternalFailure("cdc.kafka", "Kafka is away.", service="kafka", retryable=retryable)


def test_a_changelog_that_comes_back_is_waited_for(
    progress: Callable[[Callable[[], tuple[int, Header] | None]], LakeProgress],
) -> None:
    n_asked = 0

    def end() -> tuple[int, Header]:
        nonlocal n_asked
        n_asked += 1
        if n_asked < 3:
            raise away(retryable=True)
        return 3, HEAD

    progress(end).wait(HERE, seconds=30)
    assert n_asked == 3


def test_one_that_stays_away_is_named_at_the_end(
    progress: Callable[[Callable[[], tuple[int, Header] | None]], LakeProgress],
) -> None:
    def end() -> tuple[int, Header]:
        raise away(retryable=True)

    with pytest.raises(StaleState, match=r"in 0 s: Kafka is away\.$") as late:
        progress(end).wait(HERE, seconds=0)
    assert late.value.code == "cdc.reconcile_late"


def test_a_refused_log_in_is_told_at_once(
    progress: Callable[[Callable[[], tuple[int, Header] | None]], LakeProgress],
) -> None:
    def end() -> tuple[int, Header]:
        raise away(retryable=False)

    with pytest.raises(ExternalFailure, match="away"):
        progress(end).wait(HERE, seconds=30)


def test_a_batch_that_is_not_applied_is_named(
    progress: Callable[[Callable[[], tuple[int, Header] | None]], LakeProgress],
) -> None:
    with pytest.raises(StaleState, match="batch 4 of 5 is not applied"):
        progress(lambda: (5, HEAD)).wait(HERE, seconds=0)
