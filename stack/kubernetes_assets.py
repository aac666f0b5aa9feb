"""Builds the two programs of a Kubernetes without nodes: etcd and the API server.

Both come as modules of Go and are compiled once, which takes some ten minutes; other programs go
before it.
"""

import os
import shutil
import subprocess
from pathlib import Path

from stack.errors import StackError
from stack.places import JARS, REPO

ETCD = JARS / "kubernetes" / "etcd"
API_SERVER = JARS / "kubernetes" / "apiserver"
_SOURCE = REPO / "stack" / "kubernetes"


def fetch_kubernetes() -> bool:
    """Build both; False if they are there already.

    Raises:
        StackError: there is no Go of 1.24 or newer, or it could not; it says why.
    """
    missing = [program for program in (ETCD, API_SERVER) if not program.is_file()]
    for program in missing:
        _build(program)
    return bool(missing)


def _build(program: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise StackError("Kubernetes is built by Go 1.24 or newer, which is missing.")
    program.parent.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(".new")
    command = [
        *("nice", "-n", "19"),  # tests run beside it
        go,
        "build",
        "-mod=readonly",
        "-ldflags=-s -w",
        "-o",
        str(fresh),
        f"./{program.name}",
    ]
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=_SOURCE, env=environment
    )
    if done.returncode != 0:
        raise StackError(f"`{' '.join(command)}` in {_SOURCE} failed:\n{done.stderr[-2000:]}")
    fresh.replace(program)
