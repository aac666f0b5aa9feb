"""The simulator's caches: what a refresh loads and asks, what a failure leaves, by version."""

import threading

import pytest

from stack.starrocks.catalog_cache import CatalogCache
from stack.starrocks.link import Link, Trouble, Weather
from stack.starrocks.resource_cache import ResourceCache
from stack.starrocks.texts import SqlError
from tests.support.small_hive import SmallHive

DAY_1, DAY_2, DAY_3 = "dt=2026-11-01", "dt=2026-11-02", "dt=2026-11-03"
WIDTH = 8 + 16 + 16 + 16


@pytest.fixture
def lake() -> SmallHive:
    return SmallHive()


@pytest.fixture
def link(lake: SmallHive) -> Link:
    return Link(lake, timeout_seconds=0.01)


@pytest.fixture
def cache(link: Link) -> CatalogCache:
    return CatalogCache(link)


@pytest.fixture
def old(link: Link) -> ResourceCache:
    return ResourceCache(link, lock=threading.Lock())


def seen(cache: CatalogCache | ResourceCache, table: str = "sales") -> tuple[int, int]:
    """What a query sees: it loads what is not cached."""
    if isinstance(cache, CatalogCache):
        cache.query("shop", table, ())
    scan = cache.scan("shop", table, ())
    return scan.n_known, scan.cardinality


def test_an_overwrite_stays_unseen_until_its_partition_is_refreshed(
    lake: SmallHive, cache: CatalogCache
) -> None:
    before = seen(cache)
    assert before == (2, 2 * 2600 // WIDTH)
    lake.put("sales", DAY_2, size=2600 * 101)
    lake.put("sales", DAY_3, size=2600)
    assert seen(cache) == before
    cache.refresh_partitions("shop", "sales", [DAY_2])
    assert seen(cache) == (3, 103 * 2600 // WIDTH)  # the new name came along


def test_a_plan_counts_the_partitions_whose_files_are_cached_and_loads_none(
    lake: SmallHive, link: Link, cache: CatalogCache
) -> None:
    assert cache.scan("shop", "sales", ()).cardinality == 1
    cache.query("shop", "sales", [("dt", "2026-11-01")])
    lake.put("sales", DAY_2, size=2600 * 9)
    asked = dict(link.calls)
    plan = cache.scan("shop", "sales", ())
    assert (plan.n_selected, plan.cardinality) == (2, 2 * 2600 // WIDTH), "a mean stands for both"
    one = cache.scan("shop", "sales", [("dt", "2026-11-02")])
    assert (one.n_selected, one.n_known, one.cardinality) == (1, 2, 1), "not cached"
    cache.refresh_table("shop", "sales")
    assert cache.scan("shop", "sales", [("dt", "2026-11-02")]).cardinality == 1
    cache.refresh_partitions("shop", "sales", [DAY_2])
    assert cache.scan("shop", "sales", [("dt", "2026-11-02")]).cardinality == 9 * 2600 // WIDTH
    assert cache.scan("shop", "sales", ()).cardinality == 10 * 2600 // WIDTH
    assert asked["get_partitions_by_names"] == 1


def test_a_table_refresh_loads_names_and_whatever_is_cached(
    lake: SmallHive, cache: CatalogCache
) -> None:
    seen(cache)
    lake.put("sales", DAY_1, size=2600 * 3)
    lake.drop("sales", DAY_2)
    cache.refresh_table("shop", "sales")
    assert seen(cache) == (1, 3 * 2600 // WIDTH)


def test_the_calls_to_the_metastore_are_those_that_were_counted(
    link: Link, cache: CatalogCache
) -> None:
    cache.refresh_table("shop", "sales")
    assert link.calls == {
        "get_table": 2,
        "get_partition_names": 1,
        "get_partitions_by_names": 1,
    }
    link.calls.clear()
    cache.refresh_partitions("shop", "sales", [DAY_1, DAY_2])
    assert link.calls == {
        "get_partition_names": 1,
        "get_partitions_by_names": 2,
        "get_partitions_statistics_req": 1,
    }


def test_five_thousand_partitions_are_one_call(lake: SmallHive, link: Link) -> None:
    lake.add_table("wide", days=[f"dt={number}" for number in range(5001)])
    CatalogCache(link).refresh_table("shop", "wide")
    assert link.calls["get_partitions_by_names"] == 2


def test_one_missing_partition_fails_all_and_loads_none(
    lake: SmallHive, cache: CatalogCache
) -> None:
    before = seen(cache)
    lake.put("sales", DAY_2, size=2600 * 50)
    with pytest.raises(SqlError, match=r"^null value in entry: dt=2099-01-01=null$"):
        cache.refresh_partitions("shop", "sales", [DAY_2, "dt=2099-01-01"])
    assert seen(cache) == before


def test_a_table_that_is_gone_is_forgotten_and_said_to_be(
    lake: SmallHive, cache: CatalogCache
) -> None:
    seen(cache)
    lake.drop_table("sales")
    said = (
        "Failed to get table [shop.sales], msg: NoSuchObjectException: shop.sales table not found"
    )
    with pytest.raises(SqlError) as first:
        cache.refresh_table("shop", "sales")
    assert str(first.value) == f"{said}, invalidated cache."
    with pytest.raises(SqlError) as second:
        cache.refresh_table("shop", "sales")
    assert str(second.value) == said


@pytest.mark.parametrize("trouble", [Trouble.FROZEN, Trouble.DOWN])
def test_other_failures_clear_nothing(
    lake: SmallHive, link: Link, cache: CatalogCache, trouble: Trouble
) -> None:
    before = seen(cache)
    lake.put("sales", DAY_2, size=2600 * 50)
    link.set_weather(Weather(trouble))
    with pytest.raises(SqlError, match=r"Failed to get table \[shop.sales\], msg: "):
        cache.refresh_table("shop", "sales")
    with pytest.raises(SqlError, match="Failed to getPartitionsNames"):
        cache.refresh_partitions("shop", "sales", [DAY_2])
    assert seen(cache) == before
    assert not cache.has_database("shop")  # not cached: the same answer as for an unknown one


def test_a_frozen_metastore_takes_five_time_outs(link: Link, cache: CatalogCache) -> None:
    link.set_weather(Weather(Trouble.FROZEN))
    with pytest.raises(SqlError, match="SocketTimeoutException: Read timed out"):
        cache.refresh_table("shop", "sales")
    assert link.calls == {"get_table": 1}
    link.set_weather(Weather(Trouble.NONE, delay=0.001))
    assert seen(cache)[0] == 2
    link.set_weather(Weather(Trouble.NONE, delay=0.02))
    with pytest.raises(SqlError, match="Read timed out"):
        cache.refresh_table("shop", "sales")


def test_predicates_prune_partitions_by_name(cache: CatalogCache) -> None:
    scan = cache.scan("shop", "sales", (("dt", "2026-11-02"), ("id", "7")))
    assert (scan.n_selected, scan.n_known) == (1, 2)


def test_the_metastores_counts_come_before_the_files_size(
    lake: SmallHive, cache: CatalogCache
) -> None:
    lake.put("sales", DAY_1, size=1, rows=100)
    assert seen(cache) == (2, 200)  # the mean of what is known, for each


def test_an_unpartitioned_table_is_one_partition(lake: SmallHive, cache: CatalogCache) -> None:
    before = seen(cache, "shops")
    lake.sizes["hdfs://lake/shop/shops"] = 26_000
    assert seen(cache, "shops") == before
    cache.refresh_table("shop", "shops")
    assert seen(cache, "shops") == (1, 26_000 // (WIDTH - 16))


@pytest.mark.parametrize("second", ["sales", "other"])
def test_partition_refreshes_of_a_catalog_wait_for_each_other(
    lake: SmallHive, cache: CatalogCache, second: str
) -> None:
    lake.add_table("other", days=[DAY_1])
    seen(cache)
    seen(cache, "other")
    release = lake.held["statistics sales"] = threading.Event()
    first = threading.Thread(target=cache.refresh_partitions, args=("shop", "sales", [DAY_1]))
    behind = threading.Thread(target=cache.refresh_partitions, args=("shop", second, [DAY_1]))
    beside = threading.Thread(target=cache.refresh_table, args=("shop", "other"))
    first.start()
    wait_for_call(cache.link, "get_partitions_statistics_req", 1)
    behind.start()
    beside.start()
    beside.join(10)
    assert not beside.is_alive()  # tables lock themselves only
    assert behind.is_alive()
    release.set()
    first.join(10)
    behind.join(10)
    assert not behind.is_alive()


def wait_for_call(link: Link, name: str, number: int) -> None:
    waited = threading.Event()
    for _ in range(2000):
        if link.calls[name] >= number:
            return
        waited.wait(0.005)
    raise AssertionError(f"{name} was not called")


# -- 2.2 -----------------------------------------------------------------------------------


def test_r2_in_the_old_version_a_table_refresh_leaves_its_partitions(
    lake: SmallHive, old: ResourceCache
) -> None:
    assert seen(old) == (2, 2 * 2600 // WIDTH)
    lake.put("sales", DAY_2, size=2600 * 101)
    lake.put("sales", DAY_3, size=2600)
    old.refresh_partitions("shop", "sales", [DAY_2])
    assert seen(old) == (2, 102 * 2600 // WIDTH)  # the new name did not come along
    old.refresh_table("shop", "sales")
    assert seen(old) == (3, 103 * 2600 // WIDTH)
    lake.put("sales", DAY_1, size=2600 * 11)
    old.refresh_table("shop", "sales")
    assert seen(old) == (3, 103 * 2600 // WIDTH)


def test_r3_a_failed_table_refresh_clears_and_a_failed_partition_refresh_does_not(
    lake: SmallHive, link: Link, old: ResourceCache
) -> None:
    before = seen(old)
    lake.put("sales", DAY_2, size=2600 * 101)
    link.set_weather(Weather(Trouble.FROZEN))
    with pytest.raises(SqlError, match=r"refresh partition cached failed: .*Read timed out"):
        old.refresh_partitions("shop", "sales", [DAY_2])
    link.set_weather(Weather())
    assert seen(old) == before  # wrong now
    link.set_weather(Weather(Trouble.FROZEN))
    with pytest.raises(SqlError, match=r"refresh table cache failed: .*Read timed out"):
        old.refresh_table("shop", "sales")
    link.set_weather(Weather())
    assert seen(old) == (2, 102 * 2600 // WIDTH)  # heals itself


def test_the_old_version_loads_partitions_one_by_one(link: Link, old: ResourceCache) -> None:
    old.refresh_partitions("shop", "sales", [DAY_1, DAY_2])
    assert link.calls["get_partition"] == 4
    with pytest.raises(SqlError, match="refresh partition cached failed: NoSuchObject"):
        old.refresh_partitions("shop", "sales", [DAY_1, "dt=2099-01-01"])


def test_the_old_version_answers_from_its_caches_while_the_metastore_is_down(
    lake: SmallHive, link: Link, old: ResourceCache
) -> None:
    before = seen(old)
    lake.drop_table("sales")
    link.set_weather(Weather(Trouble.DOWN))
    assert seen(old) == before
    with pytest.raises(SqlError, match="get partition detail failed: MetaException"):
        seen(old, "shops")


def test_r4_the_old_version_has_one_lock_for_all_tables(
    lake: SmallHive, link: Link, old: ResourceCache
) -> None:
    lake.add_table("other", days=[DAY_1])
    release = lake.held["statistics sales"] = threading.Event()
    first = threading.Thread(target=old.refresh_table, args=("shop", "sales"))
    behind = threading.Thread(target=old.refresh_table, args=("shop", "other"))
    first.start()
    wait_for_call(link, "get_partitions_statistics_req", 1)
    behind.start()
    behind.join(0.1)
    assert behind.is_alive()
    release.set()
    behind.join(10)
    assert not behind.is_alive()
    first.join(10)


def test_s10_a_call_that_times_out_is_made_again_in_slices(lake: SmallHive) -> None:
    lake.add_table("wide", days=[f"dt={number}" for number in range(800)])
    link = Link(lake, timeout_seconds=0.03)
    link.set_weather(Weather(delay_a_name=0.0001))
    CatalogCache(link).refresh_table("shop", "wide")
    # Once whole (0.08 s), once in two (0.04 s), then four slices of 0.02 s that come through.
    assert link.calls["get_partitions_by_names"] == 1 + 1 + 4
    slower = Link(lake, timeout_seconds=0.005)
    slower.set_weather(Weather(delay_a_name=0.0001))
    with pytest.raises(SqlError, match="Read timed out"):
        CatalogCache(slower).refresh_table("shop", "wide")
    assert slower.calls["get_partitions_by_names"] == 4
