"""Finds applications on this host by the tags of their runs, in the processes' environments."""

import os
import time
from pathlib import Path

from portal.spark.launch import Launched
from portal.spark.process_table import all_pids, host_identity, start_seconds

TAG_VARIABLE = "LW_RUN_TAG"
_WANTED = f"{TAG_VARIABLE}=".encode()
_LOOKS = 20
_PAUSE_SECONDS = 0.01


def find_by_tag(tag: str) -> Launched | None:
    """Return the process group on this host that was started with the tag in its environment."""
    return tagged_programs().get(tag)


def tagged_programs() -> dict[str, Launched]:
    """Return the process groups on this host that were started with a tag, by their tags."""
    found: dict[str, Launched] = {}
    pids = all_pids()
    for _ in range(_LOOKS):
        empty = []
        for pid in pids:
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
                if tag := _tag_in(environment):
                    pgid = os.getpgid(pid)
                    launched = Launched(host_identity(), pgid, start_seconds(pgid) or 0.0, pgid)
                    # The first one began it; Spark's Python workers have a group of their own.
                    found.setdefault(tag, launched)
            except OSError:
                continue  # gone meanwhile, or not ours to read
            if not environment:
                empty.append(pid)
        if not empty:
            break
        # A process has no environment while it becomes another program, as spark-submit does.
        pids = empty
        time.sleep(_PAUSE_SECONDS)
    return found


def _tag_in(environment: bytes) -> str:
    for entry in environment.split(b"\0"):
        if entry.startswith(_WANTED):
            return entry.removeprefix(_WANTED).decode(errors="replace")
    return ""
