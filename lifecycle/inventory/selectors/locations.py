"""Reads every location that a scan saw."""

from collections.abc import Iterator

from lifecycle.drop.domain.refusal import (
    Name,
)
from portal.connectors.lake_config import LakeConfig
from portal.runs.results.parquet import result_tables


def all_locations(config: LakeConfig, results_uri: str) -> Iterator[tuple[str, Name]]:
    """Return every location that the scan saw, canonical where it could be read as a path.

    `others` are what a scan does not judge: tables of other catalogs, unreadable databases.
    """
    for part, keys in (
        ("databases", ("db",)),
        ("tables", ("db", "tbl")),
        ("items", ("db", "tbl", "part_name")),
        ("others", ("db", "tbl", "part_name")),
    ):
        for table in result_tables(config, results_uri, part, columns=(*keys, "location")):
            columns = [table[key].to_pylist() for key in keys]
            for location, *parts in zip(table["location"].to_pylist(), *columns, strict=True):
                if location:
                    yield location, Name(*parts)
