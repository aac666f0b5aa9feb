"""Which application runs on this host, when only its tag was stored before a worker died?"""

import os
import socket
from pathlib import Path

from portal.spark.launch import Launched

TAG_VARIABLE = "LW_RUN_TAG"


def find_by_tag(tag: str) -> Launched | None:
    """Give the process group on this host that was started with the tag in its environment."""
    wanted = f"{TAG_VARIABLE}={tag}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                pgid = os.getpgid(int(entry.name))
                return Launched(socket.gethostname(), pgid, _started(pgid), pgid)
        except (OSError, ProcessLookupError):
            continue  # gone meanwhile, or not ours to read
    return None


def _started(pid: int) -> float:
    """Give the start time in seconds after boot, the same way `launch` notes it; 0 = gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    return int(text.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
