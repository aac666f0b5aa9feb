"""What the metastore tells of Hudi tables becomes one row a table, and stays right by the poll."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.discovery.services.event_handlers import on_event, on_events
from optimizer.hudi.tables.domain.events import HeardHudi
from optimizer.hudi.tables.services.poll import hudi_compare
from optimizer.models import HudiTable, IcebergTable
from tests.component.optimizer.hudi.hudi_said import altered, created, dropped
from tests.component.optimizer.iceberg.iceberg_said import NOW, at
from tests.component.optimizer.iceberg.iceberg_said import created as iceberg_created

pytestmark = pytest.mark.django_db
LAKE, A, B = "main", "file:/lake/a", "file:/lake/b"


def there() -> dict[str, str]:
    """Return the tables that are there and their places."""
    rows = HudiTable.objects.filter(lake=LAKE, is_deleted=False)
    return dict(rows.values_list("table", "location"))


def test_a_table_is_known_by_its_provider_or_its_reader_and_no_other_is() -> None:
    on_events(
        [
            created("spark", f"{A}/", provider="HUDI", reader=""),
            created("hive", B, provider=""),
            created("plain", "file:/lake/c", provider="parquet", reader="org.apache.Parquet"),
            iceberg_created({"table_type": "ICEBERG", "metadata_location": "file:/hudi/m.json"}),
        ],
        NOW,
    )
    assert there() == {"spark": A, "hive": B}
    row = HudiTable.objects.get(table="spark")
    assert (row.owner, row.event_at, row.inspect_due_at) == ("olga", NOW, NOW)
    assert IcebergTable.objects.count() == 1


def test_the_serdes_path_is_believed_where_spark_put_no_place_beside_it() -> None:
    on_event(created("t", "file:/lake/t-__PLACEHOLDER__", path=A), NOW)
    assert there() == {"t": A}


def test_a_commit_that_the_writer_tells_of_makes_a_look_due() -> None:
    on_event(created("t", A), NOW)
    HudiTable.objects.update(inspect_due_at=at(15))
    on_event(altered("t", A), at(1))
    row = HudiTable.objects.get()
    assert (row.event_at, row.inspect_due_at) == (at(1), at(1))


def test_a_renamed_table_keeps_its_row_and_one_at_another_place_is_another() -> None:
    on_event(created("t", A), NOW)
    key = HudiTable.objects.get().pk
    on_event(altered("u", A, former="t"), at(1))
    assert there() == {"u": A}
    assert HudiTable.objects.get().pk == key
    on_event(altered("u", B, was=A), at(2))
    assert there() == {"u": B}
    old = HudiTable.objects.get(pk=key)
    assert (old.is_deleted, old.deleted_at, old.inspect_due_at) == (True, at(2), None)
    on_event(altered("u", A, was=B), at(3))
    assert HudiTable.objects.get(is_deleted=False).pk == key


def test_a_dropped_table_is_gone_unless_its_name_means_another_by_now() -> None:
    on_events([created("t", A), dropped("t", B)], NOW)
    assert there() == {"t": A}
    on_event(dropped("t", A), at(1))
    assert there() == {}
    on_event(created("t", A), at(2))
    assert there() == {"t": A}
    assert HudiTable.objects.count() == 1


def test_the_names_that_a_writer_gives_to_one_place_are_one_table() -> None:
    on_events([created("t_ro", A), created("t_rt", A), created("t", A), altered("t_ro", A)], NOW)
    assert there() == {"t": A}
    on_event(dropped("t", A), at(1))
    listed = [HeardHudi("shop", one, A) for one in ("t_rt",)]
    hudi_compare(LAKE, listed, read_at=at(2), now=at(3))
    assert there() == {"t_rt": A}


def test_what_was_heard_since_a_poll_began_is_known_better() -> None:
    on_event(created("t", A), NOW)
    on_events([altered("zz", A, former="t"), created("new", B)], at(2))
    assert hudi_compare(LAKE, [HeardHudi("shop", "t", A)], read_at=at(1), now=at(3)) == (0, 0)
    assert there() == {"zz": A, "new": B}
    assert hudi_compare(LAKE, [HeardHudi("shop", "t", A)], read_at=at(4), now=at(5)) == (1, 2)
    assert there() == {"t": A}


_NAMES, _PLACES = st.sampled_from(["a", "a_ro", "b"]), st.sampled_from([A, B])
_STEP = st.tuples(st.sampled_from(["put", "drop", "rename"]), _NAMES, _NAMES, _PLACES)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(_STEP, max_size=8), n_heard=st.integers(0, 8), n_batches=st.integers(1, 3))
def test_after_any_changes_and_a_poll_each_place_is_one_row_by_its_best_name(
    steps: list[tuple[str, str, str, str]], n_heard: int, n_batches: int
) -> None:
    HudiTable.objects.all().delete()
    lake: dict[str, str] = {}
    events = []
    for step, name, other, place in steps:
        if step == "put":
            was = lake.get(name)
            events.append(altered(name, place, was=was) if was else created(name, place))
            lake[name] = place
        elif name in lake and step == "drop":
            events.append(dropped(name, lake.pop(name)))
        elif name in lake and other not in lake:
            lake[other] = lake.pop(name)
            events.append(altered(other, lake[other], former=name))
    heard = events[:n_heard]
    for n in range(n_batches):
        on_events(heard[n::n_batches] if n_batches == 1 else heard[n : n + 1], at(n))
    best: dict[str, HeardHudi] = {}
    for name, place in lake.items():
        found = HeardHudi("shop", name, place)
        best[place] = min(best.get(place, found), found, key=lambda one: one.rank)
    hudi_compare(LAKE, list(best.values()), read_at=at(60), now=at(61))
    assert there() == {one.table: one.location for one in best.values()}
    before = list(HudiTable.objects.order_by("pk").values())
    again = hudi_compare(LAKE, list(best.values()), read_at=at(62), now=at(63))
    assert again == (0, 0)
    assert list(HudiTable.objects.order_by("pk").values()) == before
    due = HudiTable.objects.filter(is_deleted=False, inspect_due_at__gt=NOW + timedelta(hours=2))
    assert not due.exists()
