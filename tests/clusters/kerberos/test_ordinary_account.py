"""A portal whose account is no superuser of HDFS: it works by the rights of a group.

What a right is missing for is left as it is, and says whose right on which path to give.
"""

import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lifecycle.backup.domain.layout import BackupRef
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.files.backup_root import preflight
from lifecycle.backup.engine.journal.reading import batches
from lifecycle.backup.engine.purge.batches import PurgeBatch, PurgeOrder, PurgeResult, purge_batches
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.safety.fence import move_directory, open_fence
from stack.kerberized_stack import KerberizedStack
from tests.support.act_lake import LEASE, ActLake
from tests.support.scan_lake import ScanLake, run_scan

OWNER, PORTAL, GROUP = "etl", "steward", "analysts"
VALUES = [("a",), ("b",)]


class GroupLake(ActLake):
    """Tables of an account that only its group may change, with modes of files and folders."""

    folders, files_mode = 0o750, 0o640

    def make_files(self, directory: LakePath, *, n: int) -> None:
        self.fs.make_directories(directory, mode=self.folders)
        for name in ("part-0", "_SUCCESS"):
            self.fs.write_new(directory.child(name), b"x" * n)
            self.fs.set_mode(directory.child(name), self.files_mode)

    def table(self, name: str, *, mode: int, folders: int = 0o750) -> TableName:
        """Make a table whose own directory and whose partitions have these modes."""
        self.folders = folders
        made = self.make_table(name, keys=("dt",), values=VALUES)
        self.fs.set_mode(self.db_path.child(name), mode)
        return made


class Both:
    """The same lake as the owner of its tables has it, and as the portal has it."""

    def __init__(self, secured: KerberizedStack) -> None:
        name = f"group{time.time_ns()}"
        root = secured.config().path("/user/act")
        fs = open_file_system(root, config=secured.config())
        fs.make_directories(root, mode=0o755)
        fs.make_directory(root.child(name), mode=0o770)
        fs.set_owner(root.child(name), OWNER, GROUP)
        self.owner = GroupLake(secured.config_of(OWNER), name)
        self.owner.fs.set_mode(self.owner.db_path, 0o770)
        self.portal = GroupLake(secured.config_of(PORTAL), name)


@pytest.fixture
def lake(secured: KerberizedStack) -> Both:
    """A lake of its own for each test."""
    return Both(secured)


def test_with_the_groups_rights_everything_is_as_it_was_after_drop_and_restore(lake: Both) -> None:
    name = lake.owner.table("granted", mode=0o770)
    before = lake.owner.snapshot(name)
    run, result = lake.portal.drop(name)
    assert result.as_dict()["counts"] == {"DROPPED": 2}
    assert lake.owner.metastore.partition_names(name) == []
    restored = lake.portal.restore(run).as_dict()
    assert (restored["counts"], restored["skipped"]) == ({"RESTORED": 2}, [])
    assert lake.owner.snapshot(name) == before


def test_without_the_right_to_write_nothing_is_dropped_and_the_next_step_is_said(
    lake: Both,
) -> None:
    name = lake.owner.table("kept", mode=0o750)
    before = lake.owner.snapshot(name)
    _, result = lake.portal.drop(name)
    assert result.as_dict()["counts"] == {"SKIPPED": 2}
    place = f"{lake.owner.db_path.path}/kept"
    for one in result.as_dict()["skipped"]:
        assert f'user={PORTAL}, access=WRITE, inode="{place}"' in one["reason"]
        assert f"Give {PORTAL} the right WRITE on {place}" in one["reason"]
        assert "RPCError" not in one["reason"]
    assert lake.owner.snapshot(name) == before
    home = lake.owner.db_path.child("kept")
    refused = preflight(lake.portal.fs, lake.portal.root, [home], tag="group")
    assert f"Give {PORTAL} the right WRITE on {place}" in refused[home]


def test_a_restore_is_refused_until_the_right_is_given_back(lake: Both) -> None:
    name = lake.owner.table("closed", mode=0o770)
    before = lake.owner.snapshot(name)
    run, _ = lake.portal.drop(name)
    home = lake.owner.db_path.child("closed")
    lake.owner.fs.set_mode(home, 0o750)
    refused = lake.portal.restore(run).as_dict()
    assert refused["counts"] == {"SKIPPED": 2}
    assert all(
        f"Give {PORTAL} the right WRITE on {home.path}" in r["reason"] for r in refused["skipped"]
    )
    assert lake.owner.metastore.partition_names(name) == []
    lake.owner.fs.set_mode(home, 0o770)
    assert lake.portal.restore(run).as_dict()["counts"] == {"RESTORED": 2}
    assert lake.owner.snapshot(name) == before


def test_a_directory_that_cannot_be_given_back_to_its_owner_is_told(lake: Both) -> None:
    name = lake.owner.table("gone", mode=0o770)
    before = lake.owner.snapshot(name)
    run, _ = lake.portal.drop(name)
    home = lake.owner.db_path.child("gone")
    was = lake.owner.fs.status(home)
    lake.owner.fs.remove_empty_directory(home)
    restored = lake.portal.restore(run).as_dict()
    assert restored["counts"] == {"RESTORED": 2}
    assert lake.owner.snapshot(name) == before
    now = lake.owner.fs.status(home)
    assert was is not None
    assert now == replace(was, owner=PORTAL)
    for one in restored["skipped"]:
        assert one["outcome"] == "RESTORED"
        assert f"run `hdfs dfs -chown {OWNER}:{GROUP} '{home}'`" in one["reason"]
    assert len(restored["skipped"]) == 2


def test_a_purge_begins_only_where_all_may_be_deleted(lake: Both) -> None:
    kept, gone = (
        lake.owner.table(name, mode=0o770, folders=folders)
        for name, folders in (("kept", 0o750), ("gone", 0o770))
    )
    run, _ = lake.portal.drop(kept)
    result, claimed = _purge(lake.portal, run)
    assert result.counts == {"SKIPPED": 1}
    (batch,) = result.batches
    assert f"Give {PORTAL} the right WRITE on {claimed.path}" in batch["reason"]
    move_directory(lake.portal.fs, claimed, lake.portal.day.sealed(run, 1))
    assert lake.portal.restore(run).as_dict()["counts"] == {"RESTORED": 2}
    run, _ = lake.portal.drop(gone)
    result, claimed = _purge(lake.portal, run)
    assert result.counts == {"PURGED": 1}
    assert lake.portal.fs.status(claimed) is None


def _purge(lake: ActLake, run: str) -> tuple[PurgeResult, LakePath]:
    fence = lake.day.taken(FenceKind.PURGE, str(uuid.uuid4()), 1)
    open_fence(lake.fs, fence, lease_until=datetime.now(UTC) + LEASE)
    claimed = fence.child(BackupRef(run, 1).claimed_name)
    move_directory(lake.fs, lake.day.sealed(run, 1), claimed)
    claims = tuple(
        PurgeBatch(
            "b", "t", claimed, one.intent.batch, one.sha256, datetime(2020, 1, 1, tzinfo=UTC)
        )
        for one in batches(lake.fs, claimed)
    )
    tools, result = lake.tools(fence), PurgeResult()
    tools.clock = lambda: datetime.now(UTC) + timedelta(days=60)
    purge_batches(PurgeOrder("p", claims, lake.occupied), tools, result=result)
    return result, claimed


def test_a_scan_judges_what_the_group_may_read_and_names_the_rest(
    secured: KerberizedStack, tmp_path: Path
) -> None:
    config = secured.config()
    root = config.path(f"/tmp/scan {time.time_ns()}")
    made = ScanLake(config, root)
    sales = made.database("sales", owner=OWNER)
    table = made.table(
        "sales",
        "visits",
        owner=OWNER,
        location=str(sales.child("visits")),
        parameters={"LEVEL": "1", "TTL": "30"},
    )
    for value in ("old", "closed"):
        made.data(made.partition(table, value), age=100)
    for status in made.fs.walk(root):
        made.fs.set_owner(status.path, OWNER, GROUP)
        made.fs.set_mode(status.path, 0o750 if status.is_dir else 0o640)
    made.fs.set_mode(sales.child("visits", "dt=closed"), 0o700)
    own = _own_places(secured)
    params = {"template": f"{root}/user/{{owner}}"}
    scanned = run_scan(own, params, log_file=tmp_path / "scan.log")
    rows = {row["part_name"]: row for row in scanned.rows("items") if row["tbl"] == "visits"}
    assert rows["dt=old"]["cls"] == "CLEAN_NOW"
    assert rows["dt=closed"]["cls"] == "UNKNOWN"
    closed = sales.child("visits", "dt=closed").path
    assert f'user={PORTAL}, access=READ_EXECUTE, inode="{closed}"' in rows["dt=closed"]["detail"]


def _own_places(secured: KerberizedStack) -> LakeConfig:
    """Return the lake with a spool and a backup root of the portal's ordinary account."""
    config = secured.config()
    place = config.path(f"/{PORTAL}")
    fs = open_file_system(place, config=config)
    fs.make_directories(place, mode=0o700)
    fs.set_owner(place, PORTAL, PORTAL)
    return replace(
        secured.config_of(PORTAL), spool=f"{place}/spool", backup_roots=(f"{place}/backup",)
    )
