"""A cluster row that leads to simulated front ends, and a lake whose metastore they read."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from portal.lake.ids import LakeId
from refresh.models import Cluster
from stack.starrocks.running import RunningCluster
from tests.component.conftest import LAKE, NOW
from tests.component.stack.starrocks.starrocks_cluster import URIS
from tests.support.lakes import local_lake


def password_file(folder: Path, *, mode: int = 0o600) -> Path:
    """Write a password as the portal wants it."""
    file = folder / "starrocks.password"
    file.write_text("secret\n", encoding="utf-8")
    file.chmod(mode)
    return file


def row_of(
    running: RunningCluster, folder: Path, *, name: str = "bi", user: str = "svc", only: int = 3
) -> Cluster:
    """Keep a cluster by the addresses of its first front ends."""
    return Cluster.objects.create(
        name=name,
        addresses=[f"{host}:{port}" for host, port in running.addresses()[:only]],
        user=user,
        password_file=str(password_file(folder)),
        added_by="ada",
        added_at=NOW,
    )


def lake_at(folder: Path, settings: Any, port: int = int(URIS.rpartition(":")[2])) -> None:
    """Govern a lake whose metastore has the address that the simulator is given."""
    config = replace(local_lake(folder, LakeId(LAKE)), thrift_port=port)
    settings.LAKEWARDEN_VAR = folder
    settings.LAKEWARDEN_LAKES = folder / "lakes.json"
    settings.LAKEWARDEN_LAKES.write_text(json.dumps({LAKE: config.as_dict()}), encoding="utf-8")
