"""What is not ready is never backed up, dropped or moved, whenever the flag comes."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import NOT_READY, Lister
from lifecycle.backup.engine.protocol import DropResult
from portal.connectors.file_status import FileStatus
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.lake.readiness import FLAG
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ActLake, TestRules

pytestmark = pytest.mark.rows("B3")
DAYS = ("a", "b")


@pytest.fixture
def lake(embedded_stack: Stack) -> Iterator[ActLake]:
    yield from make_lake(embedded_stack)


def flip(lake: ActLake, name: TableName, partition: str, word: str = "false") -> None:
    """Set the flag as a writer does over Thrift: no new generation, no new DDL time."""
    (struct,) = lake.metastore.partitions_by_names(name, [partition])
    struct.parameters = {**struct.parameters, FLAG: word}
    lake.metastore.alter_partitions(name, [struct])


def flipping(lister: Lister, *, before_call: int, flip_it: Callable[[], None]) -> Lister:
    """List as ever; right before one call the flag is set."""
    calls = iter(range(1, 100))

    def listed(paths: Sequence[LakePath]) -> dict[LakePath, list[FileStatus]]:
        if next(calls) == before_call:
            flip_it()
        return lister(paths)

    return listed


def drop_while(lake: ActLake, name: TableName, *, before_call: int) -> tuple[str, DropResult]:
    run = str(uuid.uuid4())
    order = lake.order(run)
    tools = lake.tools(order.fence)
    spoiled = flipping(
        tools.lister, before_call=before_call, flip_it=lambda: flip(lake, name, "dt=a")
    )
    result = drop_items(
        order,
        lake.items(name),
        rules=TestRules(lake.config),
        tools=replace(tools, lister=spoiled),
    )
    lake.seal(run)
    return run, result


@pytest.mark.parametrize("word", ["false", " FALSE "])
def test_an_unready_partition_is_refused_by_name_and_reason(lake: ActLake, word: str) -> None:
    name = lake.make_table("unready", keys=("dt",), values=[(day,) for day in DAYS])
    flip(lake, name, "dt=a", word)
    before = lake.snapshot(name)
    _, result = lake.drop(name)
    assert result.counts == {"SKIPPED": 1, "DROPPED": 1}
    assert result.skipped[0]["reason"] == NOT_READY
    assert lake.snapshot(name).files == {"dt=a": before.files["dt=a"]}


@pytest.mark.parametrize(
    ("before_call", "outcome"),
    [(1, "SKIPPED"), (2, "RETURNED"), (3, "RETURNED")],
    ids=["after the facts", "after the recheck asked", "when it was moved"],
)
def test_a_flag_that_comes_in_between_saves_the_partition(
    lake: ActLake, before_call: int, outcome: str
) -> None:
    name = lake.make_table("late", keys=("dt",), values=[(day,) for day in DAYS])
    before = lake.snapshot(name)
    _, result = drop_while(lake, name, before_call=before_call)
    assert result.counts == {outcome: 1, "DROPPED": 1}, result.skipped
    after = lake.snapshot(name)
    assert after.files == {"dt=a": before.files["dt=a"]}
    assert after.items["dt=a"]["parameters"][FLAG] == "false"


def test_settle_finishes_no_drop_of_what_is_not_ready_by_now(lake: ActLake) -> None:
    name = lake.make_table("half", keys=("dt",), values=[("a",)])
    before = lake.snapshot(name)
    run = str(uuid.uuid4())
    order = lake.order(run)
    tools = lake.tools(order.fence)

    def dies() -> None:
        flip(lake, name, "dt=a")
        raise KeyboardInterrupt

    spoiled = replace(tools, lister=flipping(tools.lister, before_call=3, flip_it=dies))
    with pytest.raises(KeyboardInterrupt):
        drop_items(order, lake.items(name), rules=TestRules(lake.config), tools=spoiled)
    assert lake.snapshot(name).files == {"dt=a": ()}, "it is behind the fence"
    assert lake.seal(run, approved=True) == {"RETURNED": 1}
    assert lake.snapshot(name).files == before.files
