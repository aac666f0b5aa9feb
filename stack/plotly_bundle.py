"""Puts the part of Plotly that the charts need into static/vendor: a third of the whole.

The part comes by npm where a machine has it. Elsewhere the whole, which the Python package has
with it, does the same; so nothing more need be installed.
"""

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from importlib.util import find_spec
from pathlib import Path

from stack.errors import StackError
from stack.places import VENDOR

PACKAGE, VERSION = "plotly.js-cartesian-dist-min", "4.1.1"
"""The version is that of the whole in the Python package of requirements.lock."""
MEMBER = "package/plotly-cartesian.min.js"
SHA256 = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
SECONDS = 60
TARGET = VENDOR / "plotly" / "plotly.min.js"
_PART, _WHOLE = f"{PACKAGE} {VERSION}", "whole"


def unpack_plotly() -> bool:
    """Put Plotly into static/vendor; returns False if it was there already."""
    stamp = TARGET.with_name(".source")
    had = stamp.read_text(encoding="utf-8") if TARGET.is_file() and stamp.is_file() else ""
    if had == _PART or (had == _WHOLE and shutil.which("npm") is None):
        return False
    part = by_npm()
    if part is None and had == _WHOLE:
        return False
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(part if part is not None else _whole())
    stamp.write_text(_WHOLE if part is None else _PART, encoding="utf-8")
    return True


def by_npm() -> bytes | None:
    """Return the part as npm gives it; None where there is no npm, or it cannot reach it.

    Raises:
        StackError: what came is not the file that was tried out.
    """
    if shutil.which("npm") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--fetch-retries=0", f"{PACKAGE}@{VERSION}"]
        try:
            done = subprocess.run(
                command, check=False, capture_output=True, cwd=folder, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return None
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode != 0 or len(archives) != 1:
            return None
        with tarfile.open(archives[0]) as archive:
            member = archive.extractfile(MEMBER)
            data = b"" if member is None else member.read()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise StackError(f"npm's {PACKAGE} {VERSION} is another file than the one that is pinned.")
    return data


def _whole() -> bytes:
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise StackError("The Python package plotly is missing; run ./lakewarden demo.")
    return (Path(spec.origin).parent / "package_data" / "plotly.min.js").read_bytes()
