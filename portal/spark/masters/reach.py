"""Asks a lake's cluster as runs do: whether it tells of applications, and has what they need."""

import time
from collections.abc import Callable, Iterator

from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.lake_check import Reach
from portal.lake.errors import ExternalFailure, PortalError
from portal.spark.masters.clusters import cluster_of
from portal.spark.masters.settings import has_cluster, is_kubernetes

_NOBODY = "lw-check"


def check_cluster(config: LakeConfig) -> list[Reach]:
    """Return a row for each part that runs need; none where Spark has a master of its own."""
    return [_asked(*probe) for probe in _probes(config)] if has_cluster(config) else []


def _probes(config: LakeConfig) -> Iterator[tuple[str, str, Callable[[], str]]]:
    yield "Applications", config.spark_master, lambda: _applications(config)
    if config.spark_python:
        yield "Packed Python", config.spark_python, lambda: _packed_python(config)


def _asked(system: str, place: str, ask: Callable[[], str]) -> Reach:
    began = time.monotonic()
    try:
        detail = ask()
    except PortalError as error:
        return Reach(system, place, "", time.monotonic() - began, error.code, error.message)
    return Reach(system, place, "", time.monotonic() - began, detail)


def _applications(config: LakeConfig) -> str:
    cluster_of(config).tagged(_NOBODY)
    if is_kubernetes(config):
        return "pods are listed; Lakewarden's tests submit to Kubernetes, and no node has run one"
    return "are found by their tags"


def _packed_python(config: LakeConfig) -> str:
    path = config.path(config.spark_python)
    found = open_file_system(path, config=config, acls=False).status(path)
    if found is None:
        raise ExternalFailure(
            "check.no_python",
            f"{path} is not there, so no driver would start. Pack the portal's environment "
            "(venv-pack) and put it there, or remove spark_python from lakes.json.",
            service="filesystem",
            retryable=False,
        )
    return f"{found.size:,} bytes, of {found.owner}"
