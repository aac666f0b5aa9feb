"""Files that a run writes into tables of HDFS have the permissions that HDFS gives by default.

Tables belong to an ETL account, bob reads them by their group, runs work as a third account.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import Services
from tests.support.iceberg_lake import IcebergLake, small_files

pytestmark = pytest.mark.spark
OWNER, READER, GROUP = "etl", "bob", "analysts"
STRANGER = "alice"
"""Owns tables of the group without being in it."""
_PLANS = {"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
_ACL = "user::rwx,group::r-x,other::---,default:user::rwx,default:group::r-x,default:other::---"


class Accounts:
    """The accounts of a real HDFS, in the one JVM of the tests."""

    def __init__(self, spark: SparkSession, stack: Stack) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._conf = spark.sparkContext._jsc.hadoopConfiguration()
        self.uri = stack.lake_root
        self.user = str(stack.config(LAKE).hadoop_user)

    @contextmanager
    def acting(self, user: str) -> Iterator[None]:
        """Let everything that the JVM does be done by a user."""
        users = self._jvm.org.apache.hadoop.security.UserGroupInformation
        before = users.getLoginUser()
        users.setLoginUser(users.createRemoteUser(user))
        try:
            yield
        finally:
            users.setLoginUser(before)

    def path(self, place: str) -> Any:
        uri = "" if place.startswith("hdfs:") else self.uri
        return self._jvm.org.apache.hadoop.fs.Path(f"{uri}{place}")

    def entries(self, spec: str) -> Any:
        """Read ACL entries as `hdfs dfs -setfacl` does."""
        return self._jvm.org.apache.hadoop.fs.permission.AclEntry.parseAclSpec(spec, True)

    @property
    def system(self) -> Any:
        return self.path("/").getFileSystem(self._conf)

    def folder(self, place: str, *, acl: str = "", owner: str = OWNER) -> str:
        """Make a folder of the owner and the group, and return its place."""
        self.system.mkdirs(self.path(place))
        self.system.setOwner(self.path(place), owner, GROUP)
        if acl:
            self.system.setAcl(self.path(place), self.entries(acl))
        return place

    def listing(self, place: str) -> dict[str, tuple[bool, str, str, str]]:
        """Return whether each path below a place is a folder, its owner, group and mode."""
        found, folders = {}, [self.path(place)]
        while folders:
            for one in self.system.listStatus(folders.pop()):
                path, is_folder = one.getPath(), one.isDirectory()
                found[str(path)] = (
                    is_folder,
                    str(one.getOwner()),
                    str(one.getGroup()),
                    str(one.getPermission()),
                )
                folders += [path] if is_folder else []
        return found

    def check_made(self, place: str, *, folder: str, file: str) -> None:
        """Check that what a run made has the group and modes of what the owner's writer made."""
        listed = self.listing(place).values()
        of_run = {(is_folder, *rest) for is_folder, by, *rest in listed if by == self.user}
        of_owner = {(is_folder, *rest) for is_folder, by, *rest in listed if by == OWNER}
        assert of_run == of_owner == {(True, GROUP, folder), (False, GROUP, file)}


@pytest.fixture
def accounts(spark: SparkSession, full_stack: Stack) -> Accounts:
    return Accounts(spark, full_stack)


def test_a_rewritten_iceberg_table_is_read_and_written_by_whoever_could_before(
    spark: SparkSession, full_stack: Stack, accounts: Accounts
) -> None:
    session, config = spark.newSession(), full_stack.config(LAKE)
    place = accounts.folder("/permissions_iceberg")
    with accounts.acting(OWNER):
        lake = IcebergLake.make(session, config, db="permissions", root=f"{accounts.uri}{place}")
        table = small_files(lake.table(), 2)
        rows = table.rows()

    with accounts.acting(accounts.user):
        (result,) = lake.optimize(lake.task(table, kind="FULL"))
    assert result["outcome"] == "DONE", result

    accounts.check_made(place, folder="rwxr-xr-x", file="rw-r--r--")
    with accounts.acting(READER):
        assert table.rows() == rows
    with accounts.acting(OWNER):
        small_files(table, 1)
        table.say("DELETE FROM {t} WHERE id = 2")
        assert len(table.rows()) > len(rows)


def test_a_compacted_hudi_table_is_read_and_written_by_whoever_could_before(
    spark: SparkSession, full_stack: Stack, accounts: Accounts
) -> None:
    place = accounts.folder("/permissions_hudi", acl=_ACL)
    table = HudiTable(spark, Path(place) / "rows", uri=accounts.uri)
    rows: list[Row] = [(i, "2026-05-01", f"a{i}", 1) for i in range(4)]
    changed = [(i, dt, f"{word} again", 2) for i, dt, word, _ in rows]
    with accounts.acting(OWNER):
        table.upsert(rows)
        table.upsert(changed, _PLANS)

    with accounts.acting(accounts.user):
        services = Services(spark, full_stack.config(LAKE))
        result = services.one(table, "COMPACTION")
    assert (result["outcome"], result["code"]) == ("DONE", ""), result

    accounts.check_made(place, folder="rwxr-x---", file="rw-r-----")
    with accounts.acting(READER):
        assert table.rows(only_base_files=True) == table.rows() == changed
    later = [(i, dt, "later", 3) for i, dt, _, _ in rows]
    with accounts.acting(OWNER):
        table.upsert(later, _PLANS)
        assert table.rows() == later


def test_nothing_is_written_that_the_tables_own_account_could_not_read(
    spark: SparkSession, full_stack: Stack, accounts: Accounts
) -> None:
    session, config = spark.newSession(), full_stack.config(LAKE)
    place = accounts.folder("/permissions_stranger", acl=_ACL, owner=STRANGER)
    with accounts.acting(STRANGER):
        lake = IcebergLake.make(session, config, db="strangers", root=f"{accounts.uri}{place}")
        table = small_files(lake.table(), 2)
        before = (table.rows(), accounts.listing(place))

    with accounts.acting(accounts.user):
        (result,) = lake.optimize(lake.task(table, kind="FULL"))

    assert result["code"] == "table.unreadable_for_owner", result
    assert f"setfacl -R -m default:user:{STRANGER}:rwx" in result["reason"]
    with accounts.acting(STRANGER):
        assert (table.rows(), accounts.listing(place)) == before
        entries = accounts.entries(f"default:user:{STRANGER}:rwx")
        for path in [place, *(p for p, (is_folder, *_) in before[1].items() if is_folder)]:
            accounts.system.modifyAclEntries(accounts.path(path), entries)

    with accounts.acting(accounts.user):
        (result,) = lake.optimize(lake.task(table, kind="FULL"))
    assert result["outcome"] == "DONE", result
    with accounts.acting(STRANGER):
        assert table.rows() == before[0]
        small_files(table, 1)


def test_a_hudi_service_writes_nothing_that_the_tables_own_account_could_not_read(
    spark: SparkSession, full_stack: Stack, accounts: Accounts
) -> None:
    place = accounts.folder("/permissions_hudi_stranger", acl=_ACL, owner=STRANGER)
    table = HudiTable(spark, Path(place) / "rows", uri=accounts.uri)
    with accounts.acting(STRANGER):
        table.upsert([(1, "2026-05-01", "a", 1)])
        table.upsert([(1, "2026-05-01", "b", 2)], _PLANS)
        before = accounts.listing(place)

    with accounts.acting(accounts.user):
        result = Services(spark, full_stack.config(LAKE)).one(table, "COMPACTION")

    assert result["code"] == "table.unreadable_for_owner", result
    assert accounts.listing(place) == before
