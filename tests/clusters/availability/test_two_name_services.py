"""A lake on two name services: a backup root on each, one place under each name, no way across."""

import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings

from lifecycle.backup.engine.files.backup_root import ensure_root
from lifecycle.backup.engine.move.items import move_items
from lifecycle.backup.models import ActFence
from lifecycle.backup.services.fencing import move_prepare
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.lake_check import check_lake
from portal.lake.errors import RuleViolation
from stack.ha_stack import SECOND, HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.support.act_lake import DAY, ActLake
from tests.support.act_portal import ActPortal, instant
from tests.support.moves import move_order, move_rules, moves_of


@pytest.fixture
def config(available: HaStack, ha: HaHdfs) -> LakeConfig:
    """The lake of both services."""
    return available.config()


@pytest.fixture
def archived(config: LakeConfig) -> Iterator[ActLake]:
    """A fresh database on the second service, with the backup root there."""
    _, second = config.backup_roots
    made = ActLake(replace(config, backup_roots=(second,)), uuid.uuid4().hex[:8])
    yield made
    made.metastore.close()


@pytest.fixture
def lake(config: LakeConfig) -> Iterator[ActLake]:
    """A fresh database on the first service."""
    made = ActLake(config, uuid.uuid4().hex[:8])
    yield made
    made.metastore.close()


def test_each_name_of_a_service_is_one_place_that_can_be_opened(
    config: LakeConfig, available: HaStack
) -> None:
    addresses = [available.ha.address(name) for name in available.ha.nodes]
    ours = {config.path(f"hdfs://{name}/tmp") for name in ("lake", "LAKE", *addresses)}
    second = available.archive.uri
    theirs = {config.path(f"{name}/tmp") for name in (f"hdfs://{SECOND}", second)}
    assert {str(path) for path in ours | theirs} == {"hdfs://lake/tmp", f"{second}/tmp"}
    for path in ours | theirs:
        found = open_file_system(path, config=config).status(path)
        assert found is not None
        assert found.is_dir
    assert config.unknown_file_systems([*ours, *theirs]) == []


def test_both_backup_roots_are_looked_at(config: LakeConfig) -> None:
    rows = {row.place: row for row in check_lake(config) if row.system == "Backup root"}
    assert list(rows) == list(config.backup_roots)
    assert all(row.is_reached for row in rows.values()), rows


def test_what_is_dropped_on_a_service_is_kept_on_it_and_comes_back(
    archived: ActLake, available: HaStack
) -> None:
    name = archived.make_table("t", keys=("dt",), values=[("a",), ("b c",)])
    before = archived.snapshot(name)
    run, result = archived.drop(name)
    assert result.counts == {"DROPPED": 2}
    kept = archived.day.sealed(run, 1)
    assert str(kept).startswith(available.archive.uri)
    assert archived.fs.names(kept)
    archived.restore(run)
    assert archived.snapshot(name) == before


def test_a_plan_s_backup_root_takes_nothing_of_the_other_service(
    archived: ActLake, lake: ActLake
) -> None:
    name = archived.make_table("t")
    before = archived.snapshot(name)
    _, result = lake.drop(name, items=archived.items(name))
    assert result.counts == {"SKIPPED": 1}
    assert "no backup root on its file system" in result.skipped[0]["reason"]
    assert archived.snapshot(name) == before


@pytest.mark.django_db
def test_a_move_across_is_refused_before_anything_is_made(
    archived: ActLake, lake: ActLake, available: HaStack, settings: Settings
) -> None:
    settings.LAKEWARDEN_LAKES = str(available.lakes_file)
    target = archived.db_path.child("made for it", "moved")
    run = ActPortal(lake).new_run("move")
    with pytest.raises(RuleViolation) as error:
        move_prepare(run, root=str(lake.root), day=DAY, targets=[str(target)], now=instant())
    assert error.value.code == "fs.other_service"
    for said in ("hdfs://lake,", f"{available.archive.uri},", "distcp"):
        assert said in error.value.message
    assert not ActFence.objects.exists()
    assert lake.fs.status(lake.root) is None
    # Not on the other one either, nor on this one under the other's path.
    assert archived.fs.status(target.parent) is None
    assert lake.fs.status(replace(target.parent, authority="lake")) is None


def test_a_driver_that_is_told_to_move_across_leaves_everything_where_it_is(
    archived: ActLake, lake: ActLake
) -> None:
    name = lake.make_table("t")
    before = lake.snapshot(name)
    run = str(uuid.uuid4())
    order = move_order(lake, run)
    ensure_root(lake.fs, lake.root, deployment_id=lake.config.deployment_id)
    items = moves_of(lake, name, archived.db_path.child("moved"))
    result = move_items(order, items, rules=move_rules(lake), tools=lake.tools(order.fence))
    assert result.counts == {"SKIPPED": 1}
    assert "file system of its new place" in result.skipped[0]["reason"]
    assert lake.snapshot(name) == before
    assert archived.fs.names(archived.db_path) == []
