"""Says whether tables still have the newest commits that were read, without starting Spark."""

from collections.abc import Iterable, Mapping
from typing import Any

from optimizer.rewriting.domain.facts import HUDI, ICEBERG, TableFacts
from optimizer.rewriting.domain.hudi_instants import newest_instant
from portal.access.lakes import get_lake
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError
from portal.lake.names import TableName

_TIMELINES = ((".hoodie", "timeline"), (".hoodie",))
"""Where tables have their active timeline, the older ones before version 8 in the second."""


def holds(lake: str, names: Iterable[str], known: Mapping[str, TableFacts]) -> bool:
    """Whether every table and cube that was read has the same newest commit.

    Raises:
        ExternalFailure: the metastore or the file system cannot be asked.
    """
    if not set(names) <= known.keys():
        return False
    wanted = {name: one.metadata_location for name, one in known.items() if one.format == ICEBERG}
    for one in known.values():
        wanted |= {cube.table: cube.metadata_location for cube in one.cubes}
    config = get_lake(lake)
    with Metastore.connect(config) as metastore:

        def found(name: str) -> Any:
            db, _, table = name.partition(".")
            try:
                return metastore.table_or_none(TableName(config.lake, db, table))
            except ExternalFailure:
                raise
            except PortalError:
                return None

        for name, location in wanted.items():
            table = found(name)
            place = "" if table is None else table.parameters.get("metadata_location", "")
            if place != location:
                return False
        hudi = [one for one in known.values() if one.format == HUDI]
        if not all(_lies_at(found(one.name), one.metadata_location, config) for one in hudi):
            return False
    return all(_newest(one.metadata_location, config) == one.snapshot_id for one in hudi)


def _lies_at(table: Any, place: str, config: LakeConfig) -> bool:
    if table is None or table.sd is None or not table.sd.location:
        return False
    try:
        return config.path(table.sd.location) == config.path(place)
    except PortalError:
        return False


def _newest(place: str, config: LakeConfig) -> int | None:
    """Return the newest completed commit of a Hudi table; None where none is found.

    Raises:
        ExternalFailure: the file system cannot be asked.
    """
    for folders in _TIMELINES:
        try:
            timeline = config.path(place).child(*folders)
            found = newest_instant(open_file_system(timeline, config=config).names(timeline))
        except ExternalFailure:
            raise
        except PortalError:
            continue
        if found is not None:
            return found
    return None
