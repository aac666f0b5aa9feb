"""Stores the removal list, so that exactly what people approved is read again.

One JSON object a line in the run's spool: first what the list is about, then an item each. The
digest is the file's sha256; whoever acts counts it again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from portal.connectors.filesystem import open_file_system
from portal.lake.errors import NotVisible, StaleState
from portal.spark.job import JobContext

MOST_ITEMS = 100_000
"""More than a driver holds without care, and than a person can answer for; the rest goes later."""


@dataclass(frozen=True, slots=True)
class Approved:
    """The list that people approved: which plan, the file's address and its sha256."""

    plan: str
    uri: str
    digest: str


def write_list(
    job: JobContext, task: int, *, head: Mapping[str, Any], items: Iterable[Mapping[str, Any]]
) -> tuple[str, str]:
    """Write a list into the spool; returns its address and its digest."""
    folder = job.spool.results.child("removals")
    job.spool.fs.make_directories(folder, mode=0o700)
    data = b"".join(_line(one) for one in (head, *items))
    path = folder.child(f"{task}.jsonl")
    job.spool.fs.write_new(path, data)
    return str(path), sha256(data).hexdigest()


def read_list(
    job: JobContext, approved: Approved, *, about: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the items of the approved list.

    Raises:
        StaleState: `removal.changed`, the file is gone, changed, or about something else.
    """
    head, *items = [json.loads(line) for line in approved_bytes(job, approved).split(b"\n") if line]
    if any(head.get(key) != value for key, value in about.items()):
        raise _changed("is about another table")
    return items


def approved_bytes(job: JobContext, approved: Approved) -> bytes:
    """Return the approved list as it was written.

    Raises:
        StaleState: `removal.changed`, the file is gone or changed.
    """
    path = job.config.path(approved.uri)
    try:
        data = open_file_system(path, config=job.config).read(path)
    except NotVisible:
        raise _changed("is not there any more") from None
    if sha256(data).hexdigest() != approved.digest:
        raise _changed("is not the one that was approved")
    return data


def _changed(what: str) -> StaleState:
    return StaleState(
        "removal.changed",
        f"The list of what shall go {what}. Nothing was removed; have it created again.",
    )


def _line(one: Mapping[str, Any]) -> bytes:
    # Letters beyond ASCII are escaped: no name can hold a line's end or half a character.
    return json.dumps(one, sort_keys=True).encode("ascii") + b"\n"
