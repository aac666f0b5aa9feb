"""What every component test stands on: the people, one lake with local files, a fixed instant."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from portal.access.models import User
from portal.access.services import person_create
from portal.connectors.lake_config import LakeConfig
from portal.lake.ids import LakeId
from stack.starrocks.running import RunningCluster
from stack.starrocks.spec import OLD
from tests.component.stack.starrocks.starrocks_cluster import running
from tests.support.lakes import local_lake
from tests.support.small_hive import SmallHive

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
LAKE = "main"


@dataclass(frozen=True)
class People:
    """Everybody a test needs, by what they are."""

    owner: User
    dba: User
    admin: User
    second: User
    third: User
    operator: User
    stranger: User


@pytest.fixture
def now() -> datetime:
    """The instant of the test."""
    return NOW


@pytest.fixture
def people(db: None) -> People:
    """An owner, a database administrator, three admins, an operator and a stranger."""

    def make(name: str, *roles: str) -> User:
        return person_create(
            name, password="correct horse staple", email=f"{name}@example.org", roles=roles
        )

    return People(
        owner=make("olga"),
        dba=make("dora"),
        admin=make("ada", "admin"),
        second=make("ben", "admin"),
        third=make("cem", "admin"),
        operator=make("otto", "operator"),
        stranger=make("stan"),
    )


@pytest.fixture
def lake(tmp_path: Path, settings: Any) -> LakeConfig:
    """The lake `main`: files below the test's own folder, and no metastore."""
    config = local_lake(tmp_path, LakeId(LAKE))
    settings.LAKEWARDEN_VAR = tmp_path
    settings.LAKEWARDEN_AUDIT_ANCHORS = tmp_path / "audit_anchors.jsonl"
    settings.LAKEWARDEN_AUDIT_KEY_FILE = tmp_path / "audit_key"
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_LAKES.write_text(json.dumps({LAKE: config.as_dict()}), encoding="utf-8")
    return config


@pytest.fixture
def small_hive() -> SmallHive:
    """A small lake behind simulated front ends."""
    return SmallHive()


@pytest.fixture
def cluster(small_hive: SmallHive) -> Iterator[RunningCluster]:
    """Three front ends of 3.x with the catalog `hive`."""
    with running(small_hive) as cluster:
        yield cluster


@pytest.fixture
def old_cluster(small_hive: SmallHive) -> Iterator[RunningCluster]:
    """Three front ends of 2.2 with the resource `hive0`."""
    with running(small_hive, OLD) as cluster:
        yield cluster
