"""Finds the newest completed commit of a Hudi table by the names of the files of its timeline."""

import re
from collections.abc import Iterable

_COMPLETED = re.compile(r"(\d{14,17})(?:_\d{14,17})?\.(?:commit|deltacommit|replacecommit)\Z")


def newest_instant(names: Iterable[str]) -> int | None:
    """Return the instant of the newest completed commit; None where there is none.

    `names` are of the folder of the active timeline: `<requested>_<completed>.<action>`, without
    the second instant before version 8 of tables.
    """
    found = (match for name in names if (match := _COMPLETED.match(name)))
    return max((int(match[1]) for match in found), default=None)
