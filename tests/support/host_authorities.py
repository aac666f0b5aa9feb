"""YARN's web service, asked by a process whose host knows a certificate authority more."""

import os
import subprocess
import sys
from pathlib import Path

_ASK = """
import sys
from portal.spark.masters.resource_manager import ResourceManager
print(ResourceManager((sys.argv[1],), user=None).service().state)
"""


def state_of(address: str, *, authority: Path) -> str:
    """Return the state that the ResourceManager at an https address says it is in."""
    told = subprocess.run(
        [sys.executable, "-c", _ASK, address],
        env={**os.environ, "SSL_CERT_FILE": str(authority)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return told.stdout.strip()
