"""What was behind the fence and came back is told to who follows the metastore's log."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import Lister, list_here
from lifecycle.backup.engine.journal.records import Outcome
from lifecycle.backup.engine.move.items import move_items
from lifecycle.backup.engine.protocol import DropResult
from portal.connectors.file_status import FileStatus
from portal.events.messages import read_event
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ActLake, TestRules
from tests.support.act_restores import restore, undo
from tests.support.moves import move_of, move_order, move_rules, seal_moves

Told = list[tuple[str, tuple[str, ...]]]


class Died(Exception):
    """Stands for the end of a driver in the middle of a batch."""


@pytest.fixture(scope="module")
def lake(embedded_stack: Stack) -> Iterator[ActLake]:
    yield from make_lake(embedded_stack)


def striking(lake: ActLake, strike: Callable[[LakePath], None]) -> Lister:
    """List as ever, but do `strike` once with the first place behind the fence that is listed."""
    struck: list[LakePath] = []

    def listing(paths: Sequence[LakePath]) -> dict[LakePath, list[FileStatus]]:
        for path in paths:
            if not struck and path.is_at_or_under(lake.root) and lake.fs.status(path) is not None:
                struck.append(path)
                strike(path)
        return list_here(lake.fs)(paths)

    return listing


def writes_late(lake: ActLake) -> Lister:
    """Make a writer that did not notice the move add a file."""
    return striking(lake, lambda path: lake.fs.write_new(path.child(uuid.uuid4().hex), b"new"))


def dies(lake: ActLake) -> Lister:
    """End the driver between its renames and its word on them."""

    def die(_path: LakePath) -> None:
        raise Died

    return striking(lake, die)


def told(lake: ActLake, name: TableName, since: int) -> Told:
    """Return what the log says of a table since an event."""
    raws = lake.metastore.notifications_after(since, 1000)
    events = [read_event("main", raw) for raw in raws]
    return [(one.type, one.partitions) for one in events if one.table == name.table]


def drop(lake: ActLake, name: TableName, run: str, lister: Lister) -> DropResult:
    order = lake.order(run)
    tools = replace(lake.tools(order.fence), lister=lister)
    return drop_items(order, lake.items(name), rules=TestRules(lake.config), tools=tools)


def test_a_drop_tells_what_it_took_back(lake: ActLake) -> None:
    name = lake.make_table("back", keys=("dt",), values=[("a b",), (None,)])
    names, since = lake.metastore.partition_names(name), lake.metastore.current_notification_id()
    result = drop(lake, name, str(uuid.uuid4()), writes_late(lake))
    assert result.counts == {Outcome.RETURNED: 1, Outcome.DROPPED: 1}
    (stays,) = lake.metastore.partition_names(name)
    (went,) = {*names} - {stays}
    assert told(lake, name, since) == [("DROP_PARTITION", (went,)), ("INSERT", (stays,))]


@pytest.mark.parametrize("keys", [(), ("dt",)])
def test_settle_tells_what_it_took_back(lake: ActLake, keys: tuple[str, ...]) -> None:
    run, values = str(uuid.uuid4()), [("a",), ("ü=/",)] if keys else []
    name = lake.make_table(f"settled{len(keys)}", keys=keys, values=values)
    there, since = lake.snapshot(name), lake.metastore.current_notification_id()
    with pytest.raises(Died):
        drop(lake, name, run, dies(lake))
    assert told(lake, name, since) == []
    assert lake.seal(run) == {Outcome.RETURNED: len(values) or 1}
    assert lake.snapshot(name) == there
    wanted = [("INSERT", (partition,) if partition else ()) for partition in sorted(there.items)]
    assert sorted(told(lake, name, since)) == wanted
    assert lake.seal(run) == {}
    assert len(told(lake, name, since)) == len(wanted)


def test_new_data_at_a_place_that_stays_registered_is_told(lake: ActLake) -> None:
    run, name = str(uuid.uuid4()), lake.make_table("anew", keys=("dt",), values=[("a",)])
    since = lake.metastore.current_notification_id()
    with pytest.raises(Died):
        drop(lake, name, run, dies(lake))
    lake.make_files(lake.db_path.child("anew", "dt=a"), n=7)
    assert lake.seal(run) == {Outcome.NEW_DATA: 1}
    assert told(lake, name, since) == [("INSERT", ("dt=a",))]


@pytest.mark.parametrize("fault", [writes_late, dies])
def test_a_move_and_an_undo_tell_what_they_took_back(
    lake: ActLake, fault: Callable[[ActLake], Lister]
) -> None:
    name = lake.make_table(f"moved_{fault.__name__}", keys=("dt",), values=[("a",)])
    home, run = lake.db_path.child(name.table, "dt=a"), str(uuid.uuid4())
    since, order = lake.metastore.current_notification_id(), move_order(lake, run)
    item = move_of(lake, name, "dt=a", home, lake.base.child("elsewhere"))
    tools = replace(lake.tools(order.fence), lister=fault(lake))
    with suppress(Died):
        result = move_items(order, [item], rules=move_rules(lake), tools=tools)
        assert result.counts == {Outcome.RETURNED: 1}, result.skipped
    assert seal_moves(lake, run) == ({} if fault is writes_late else {Outcome.RETURNED: 1})
    assert told(lake, name, since) == [("INSERT", ("dt=a",))]

    run, result = lake.drop(name)
    assert result.counts == {Outcome.DROPPED: 1}, result.skipped
    back, _ = restore(lake, run)
    since = lake.metastore.current_notification_id()
    with suppress(Died):
        assert undo(lake, run, back, lister=fault(lake)).counts == {Outcome.RETURNED: 1}
    assert told(lake, name, since) == [("INSERT", ("dt=a",))]
