"""The demo's writer over a real metastore: events never stop, and the table never grows."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore
from stack.lake.live import KEPT, OWNER, beat, is_there, live_of, make_live
from stack.stack import LAKE, Stack

NOW = datetime.now(UTC)
LIVE = live_of(LAKE)


@pytest.fixture
def metastore(embedded_stack: Stack) -> Iterator[Metastore]:
    with Metastore.connect(embedded_stack.config()) as found:
        assert not is_there(found, LIVE)
        found.create_database(
            ttypes.Database(
                name=LIVE.db,
                description="",
                locationUri=f"{embedded_stack.lake_root}/user/{OWNER}/{LIVE.db}.db",
                parameters={},
                ownerName=OWNER,
                ownerType=ttypes.PrincipalType.USER,
            )
        )
        yield found
        found.drop_table(LIVE, delete_data=True)
        found.drop_empty_database(LIVE.db)


def places(metastore: Metastore) -> tuple[set[str], set[str]]:
    """Return the partitions that are registered, and the directories that are there."""
    root = Path(metastore.table(LIVE).sd.location.removeprefix("file:"))
    there = {one.name for one in root.iterdir() if one.is_dir()}
    return set(metastore.partition_names(LIVE)), there


def test_each_beat_is_an_event_and_the_table_keeps_its_size(metastore: Metastore) -> None:
    make_live(metastore, LIVE, now=NOW)
    assert is_there(metastore, LIVE)
    names, directories = places(metastore)
    assert len(names) == KEPT
    assert names == directories
    before = metastore.current_notification_id()
    for number in range(2 * KEPT):
        beat(metastore, LIVE, number, now=NOW + timedelta(seconds=25 * (number + 1)))
    later, directories = places(metastore)
    assert len(later) == KEPT
    assert later == directories
    assert not later & names
    kinds = [event.eventType for event in metastore.notifications_after(before, 1_000)]
    assert kinds[:5] == [
        *("DROP_PARTITION", "ADD_PARTITION", "DROP_PARTITION", "ADD_PARTITION"),
        "ALTER_PARTITION",
    ]
    assert kinds.count("ALTER_PARTITION") == 2 * KEPT // 3


def test_what_a_writer_left_over_is_dropped_by_the_next_beat(metastore: Metastore) -> None:
    make_live(metastore, LIVE, now=NOW)
    make = metastore.partitions_by_names(LIVE, metastore.partition_names(LIVE)[:1])[0]
    for number in range(5):
        make.values = [f"2000-01-0{number + 1}T00-00-00"]
        make.sd.location = f"{metastore.table(LIVE).sd.location}/at={make.values[0]}"
        metastore.add_partitions([make], if_not_exists=True)
    beat(metastore, LIVE, 0, now=NOW + timedelta(minutes=1))
    assert metastore.n_partitions(LIVE) == KEPT
