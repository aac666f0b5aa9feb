"""Reads which write made a data file. Iceberg puts the writing query's id in the file's name."""

import re

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_UUID = re.compile(_ID)
# Of a whole location, and of a file's name; for Spark, which reads them with Java.
OF_LOCATION = rf"({_ID})[^/]*$"
IN_NAME = rf"({_ID})"


def write_ids_of(location: str) -> set[str]:
    """Return the ids that the file's own name holds (`<partition>-<task>-<id>-..-<n>.parquet`)."""
    return set(_UUID.findall(location.rpartition("/")[2]))
