"""Fetches promtool, which reads and tries alert rules, out of Debian's package `prometheus`.

The package is unpacked, not installed: installing it would start a server.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from stack.errors import StackError
from stack.places import JARS

PACKAGE = "prometheus"
PROMTOOL = JARS / "prometheus" / "promtool"


def fetch_promtool() -> bool:
    """Fetch the program; False if it was there already.

    Raises:
        StackError: apt-get or dpkg could not; it says which and why.
    """
    if PROMTOOL.is_file():
        return False
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _run(["apt-get", "update", "-qq"], place)
        _run(["apt-get", "download", PACKAGE], place)
        (package,) = place.glob("*.deb")
        _run(["dpkg-deb", "--extract", str(package), "unpacked"], place)
        PROMTOOL.parent.mkdir(parents=True, exist_ok=True)
        fresh = PROMTOOL.with_suffix(".new")
        shutil.copy2(place / "unpacked" / "usr" / "bin" / "promtool", fresh)
    fresh.replace(PROMTOOL)
    return True


def _run(command: list[str], place: Path) -> None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=place)
    except FileNotFoundError as error:
        raise StackError(f"{command[0]} is missing; promtool is taken from Debian.") from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        raise StackError(f"{' '.join(command)} failed:\n{said}")
