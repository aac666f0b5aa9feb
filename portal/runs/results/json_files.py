"""Reads what a program wrote into its spool as JSON, a file for each thing that it did."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from portal.lake.errors import NotVisible
from portal.spark.spool import Spool

Found = TypeVar("Found")


def json_results(spool: Spool, folder: str, kind: type[Found]) -> Iterator[Found]:
    """Yield the files of a folder of the results; none where the program made no folder."""
    try:
        for file in spool.fs.children(spool.results.child(folder)):
            if file.path.name.endswith(".json"):
                yield msgspec.json.decode(spool.fs.read(file.path), type=kind)
    except NotVisible:
        return


def json_result(spool: Spool, folder: str, number: int, kind: type[Found]) -> Found | None:
    """Return the file of one thing; None: the program did not come to it."""
    try:
        data = spool.fs.read(spool.results.child(folder, f"{number}.json"))
    except NotVisible:
        return None
    return msgspec.json.decode(data, type=kind)
