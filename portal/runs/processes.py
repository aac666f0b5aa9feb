"""Finds the application of a run on this host by its tag, when nothing else was stored of it."""

import os
from pathlib import Path

from portal.spark.launch import Launched
from portal.spark.process_table import all_pids, host_identity, start_seconds

TAG_VARIABLE = "LW_RUN_TAG"


def find_by_tag(tag: str) -> Launched | None:
    """Give the process group on this host that was started with the tag in its environment."""
    wanted = f"{TAG_VARIABLE}={tag}".encode()
    for pid in all_pids():
        try:
            if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                pgid = os.getpgid(pid)
                return Launched(host_identity(), pgid, start_seconds(pgid) or 0.0, pgid)
        except (OSError, ProcessLookupError):
            continue  # gone meanwhile, or not ours to read
    return None
