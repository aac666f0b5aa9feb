"""The follower on a real metastore: its log keeps the promises that the component tests assume."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pymetastore.hive_metastore import ttypes
from pytest_django import Settings

from portal.connectors.metastore import Metastore
from portal.events.messages import LakeEvent
from portal.events.registry import Subscriber, subscribe, unsubscribe
from portal.events.selectors import alarms_open, knows_all_since, tables_touched_since
from portal.events.services import follow_once
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE, Stack

pytestmark = pytest.mark.django_db
DB = "follower_test"
VISITS = TableName(LakeId(LAKE), DB, "visits")
ODD = ["dt=2026-11-21", "dt=a b%25%3Dü", "dt=__HIVE_DEFAULT_PARTITION__"]


@pytest.fixture
def heard() -> Iterator[list[LakeEvent]]:
    """Everything the follower hands over, in order."""
    events: list[LakeEvent] = []
    subscribe(Subscriber("test", None, lambda event, _now: events.append(event)))
    yield events
    unsubscribe("test")


def storage(location: str) -> ttypes.StorageDescriptor:
    return ttypes.StorageDescriptor(
        cols=[ttypes.FieldSchema("id", "int", "")],
        location=location,
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        serdeInfo=ttypes.SerDeInfo(
            serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={}
        ),
        parameters={},
    )


def make_table(metastore: Metastore, root: str) -> None:
    metastore.create_database(
        ttypes.Database(DB, "", f"{root}/{DB}.db", {}, ownerName="alice", ownerType=1)
    )
    metastore.create_table(
        ttypes.Table(
            tableName=VISITS.table,
            dbName=DB,
            owner="alice",
            sd=storage(f"{root}/{DB}.db/visits"),
            partitionKeys=[ttypes.FieldSchema("dt", "string", "")],
            parameters={"EXTERNAL": "TRUE"},
            tableType="EXTERNAL_TABLE",
        )
    )
    metastore.add_partitions(
        [
            ttypes.Partition(
                values=[value],
                dbName=DB,
                tableName=VISITS.table,
                sd=storage(f"{root}/{DB}.db/visits/p{number}"),
                parameters={},
            )
            for number, value in enumerate(["2026-11-21", "a b%=ü", "__HIVE_DEFAULT_PARTITION__"])
        ],
        if_not_exists=False,
    )


def test_a_real_log_is_followed_from_position_to_position(
    embedded_stack: Stack, settings: Settings, heard: list[LakeEvent]
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    now = datetime.now(tz=UTC)
    begun = follow_once(LAKE, now)
    assert (begun.leading, begun.n_events) == (True, 0)

    with Metastore.connect(embedded_stack.config()) as metastore:
        start = metastore.current_notification_id()
        make_table(metastore, embedded_stack.lake_root)
        metastore.drop_partitions(VISITS, [ODD[1], ODD[2]])
        metastore.drop_table(VISITS)
        newest = metastore.current_notification_id()
        ids = [event.eventId for event in metastore.notifications_after(start, 1000)]
    assert ids == list(range(start + 1, newest + 1)), "the real log gives every id, in order"

    while follow_once(LAKE, now).n_behind:
        pass
    mine = [event for event in heard if event.db == DB]
    assert [event.type for event in mine if not event.type.startswith("ALTER")] == [
        "CREATE_DATABASE",
        "CREATE_TABLE",
        "ADD_PARTITION",
        *["DROP_PARTITION"] * (len(mine) - 5),
        "LAKEWARDEN_DROP",
        "DROP_TABLE",
    ]
    added = next(event for event in mine if event.type == "ADD_PARTITION")
    assert sorted(added.partitions) == sorted(ODD)
    dropped = [name for e in mine if e.type == "DROP_PARTITION" for name in e.partitions]
    assert sorted(dropped) == sorted(ODD[1:])
    assert tables_touched_since(LAKE, start) >= {(DB, ""), (DB, "visits")}
    assert knows_all_since(LAKE, start)
    assert not alarms_open(LAKE).exists()

    other = follow_once(LAKE, now, holder="another process")
    assert not other.leading
    later = follow_once(LAKE, now + timedelta(minutes=5), holder="another process")
    assert later.leading
    assert len(heard) == len({event.id for event in heard})
