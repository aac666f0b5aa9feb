"""Finds the application of a run on this host by its tag, when nothing else was stored of it."""

import os
import time
from pathlib import Path

from portal.spark.launch import Launched
from portal.spark.process_table import all_pids, host_identity, start_seconds

TAG_VARIABLE = "LW_RUN_TAG"
_LOOKS = 20
_PAUSE_SECONDS = 0.01


def find_by_tag(tag: str) -> Launched | None:
    """Return the process group on this host that was started with the tag in its environment."""
    wanted = f"{TAG_VARIABLE}={tag}".encode()
    pids = all_pids()
    for _ in range(_LOOKS):
        empty = []
        for pid in pids:
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes()
                if wanted in environment.split(b"\0"):
                    pgid = os.getpgid(pid)
                    return Launched(host_identity(), pgid, start_seconds(pgid) or 0.0, pgid)
            except OSError:
                continue  # gone meanwhile, or not ours to read
            if not environment:
                empty.append(pid)
        if not empty:
            return None
        # A process has no environment while it becomes another program, as spark-submit does.
        pids = empty
        time.sleep(_PAUSE_SECONDS)
    return None
