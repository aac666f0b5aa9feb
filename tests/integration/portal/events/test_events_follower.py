"""The follower on a real metastore: its log keeps the promises that the component tests assume."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pymetastore.hive_metastore import ttypes
from pytest_django import Settings

from portal.connectors.metastore import Metastore
from portal.events.messages import LakeEvent
from portal.events.models import TableTouch
from portal.events.registry import Subscriber, subscribe, unsubscribe
from portal.events.selectors import alarms_open, knows_all_since
from portal.events.services import follow_once
from portal.lake.ids import LakeId
from portal.lake.names import DEFAULT_PARTITION, PartitionName, TableName
from stack.stack import LAKE, Stack

pytestmark = pytest.mark.django_db
DB = "follower_test"
VISITS = TableName(LakeId(LAKE), DB, "visits")
# The keys stand in no alphabetical order, so that no order but the table's own gives these names.
PLAIN = "z=2026-11-21/a=1"
ODDER = f"z=a b%25/a={DEFAULT_PARTITION}"
RENAMED = "z=größe%3D%2F\U0001f600/a=%5Bx%5D"
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


def metastore_moves(stack: Stack, sales: TableName, bills: TableName) -> None:
    """Do to a table, its partitions and its name all that a pipeline does."""
    place = f"{stack.lake_root}/{sales.db}.db"
    with Metastore.connect(stack.config()) as metastore:
        metastore.create_database(ttypes.Database(sales.db, "", place, {}))
        metastore.create_table(
            ttypes.Table(
                tableName=sales.table,
                dbName=sales.db,
                owner="alice",
                sd=storage(f"{place}/sales"),
                partitionKeys=[ttypes.FieldSchema(key, "string", "") for key in ("z", "a")],
                parameters={"EXTERNAL": "TRUE"},
                tableType="EXTERNAL_TABLE",
            )
        )
        structs = [
            ttypes.Partition(
                values=PartitionName.parse(name).metastore_values,
                dbName=sales.db,
                tableName=sales.table,
                sd=storage(f"{place}/sales/p{number}"),
                parameters={},
            )
            for number, name in enumerate((PLAIN, ODDER))
        ]
        metastore.add_partitions(structs, if_not_exists=False)
        [odd] = metastore.partitions_by_names(sales, [ODDER])
        odd.parameters["seen"] = "yes"
        metastore.alter_partitions(sales, [odd])
        old, odd.values = odd.values, PartitionName.parse(RENAMED).metastore_values
        metastore._client.rename_partition(sales.db, sales.table, old, odd)
        assert sorted(metastore.partition_names(sales)) == sorted([PLAIN, RENAMED])
        metastore.fire_insert(sales, PartitionName.parse(RENAMED), files=[f"{place}/sales/new"])
        metastore.fire_insert(sales)
        table = metastore.table(sales)
        table.parameters["seen"] = "yes"
        metastore.alter_table_keeping_times(sales, table)
        table.tableName = bills.table
        metastore.alter_table_keeping_times(sales, table)
        metastore.drop_partitions(bills, [PLAIN])
        metastore.drop_table(bills)


def test_a_real_log_is_followed_from_position_to_position(
    embedded_stack: Stack, settings: Settings, heard: list[LakeEvent]
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    now = datetime.now(tz=UTC)
    begun = follow_once(LAKE, lambda: now)
    assert (begun.leading, begun.n_events) == (True, 0)

    with Metastore.connect(embedded_stack.config()) as metastore:
        start = metastore.current_notification_id()
        make_table(metastore, embedded_stack.lake_root)
        metastore.drop_partitions(VISITS, [ODD[1], ODD[2]])
        metastore.drop_table(VISITS)
        newest = metastore.current_notification_id()
        ids = [event.eventId for event in metastore.notifications_after(start, 1000)]
    assert ids == list(range(start + 1, newest + 1)), "the real log gives every id, in order"

    while follow_once(LAKE, lambda: now).n_behind:
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
    touched = TableTouch.objects.filter(lake=LAKE, event_id__gt=start)
    assert set(touched.values_list("db", "table")) >= {(DB, ""), (DB, "visits")}
    assert knows_all_since(LAKE, start)
    assert not alarms_open(LAKE).exists()

    other = follow_once(LAKE, lambda: now, holder="another process")
    assert not other.leading
    later = follow_once(LAKE, lambda: now + timedelta(minutes=5), holder="another process")
    assert later.leading
    assert len(heard) == len({event.id for event in heard})


def test_every_partition_and_every_former_name_is_heard(
    embedded_stack: Stack, settings: Settings, heard: list[LakeEvent]
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    now = datetime.now(tz=UTC)
    assert follow_once(LAKE, lambda: now).leading
    db = "follower_names"
    sales, bills = (TableName(LakeId(LAKE), db, name) for name in ("sales", "bills"))
    metastore_moves(embedded_stack, sales, bills)
    while follow_once(LAKE, lambda: now).n_behind:
        pass
    mine = [event for event in heard if event.db == db and not event.is_note]
    assert [(event.type, event.table, event.partitions, event.former) for event in mine] == [
        ("CREATE_DATABASE", "", (), None),
        ("CREATE_TABLE", "sales", (), None),
        ("ADD_PARTITION", "sales", (PLAIN, ODDER), None),
        ("ALTER_PARTITION", "sales", (ODDER,), None),
        ("ALTER_PARTITION", "sales", (ODDER, RENAMED), None),
        ("INSERT", "sales", (RENAMED,), None),
        ("INSERT", "sales", (), None),
        ("ALTER_TABLE", "sales", (), None),
        ("ALTER_TABLE", "bills", (), (db, "sales")),
        ("DROP_PARTITION", "bills", (PLAIN,), None),
        ("DROP_TABLE", "bills", (), None),
    ]
    assert not alarms_open(LAKE).exists()
