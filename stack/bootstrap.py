"""How a fresh machine becomes one that can run the demo: standard library only, Python 3.11.

Finds or installs the system's tools, makes .venv from the locks, fetches the assets, builds
the JVM functions, then hands over to `stack.cli` in that environment. Each step says what it does
and how long it took, and does nothing when its result is there.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
VENV = REPO / ".venv"
PYTHON = VENV / "bin" / "python"
LOCKS = (REPO / "requirements.lock", REPO / "requirements-dev.lock")
"""What the portal runs on, and what its tests and the demo's servers need beside it."""
STAMP = VENV / ".lock-sha256"
KUBERNETES = REPO / "var" / "jars" / "kubernetes"
GO = (1, 24)
"""The least version that stack/kubernetes/go.mod takes."""
UV = "uv==0.13.9"
POLICY = Path("/usr/sbin/policy-rc.d")
USAGE = """Usage: ./lakewarden COMMAND

  demo [--detach]    set up everything, make a lake, serve the portal (PORT, else 8000)
  demo --lakes 2     the same with a second lake, which has servers of its own
  demo --mend        in the demo that runs: take away the payments that were loaded twice
  test [TIER ...]    run the gates and the tests, or only some tiers of them:
                     gates unit component integration browser security faults;
                     only where it is named: trino (fetches 860 MB the first
                     time), clusters (Kerberos, high availability, YARN), long
  check              format, lint, types, imports and the unit tests, in about a minute
  test AREA ...      the tests that import an area or capability: lifecycle/drop
  stop               end the demo and everything it started
  doctor             name each missing tool and the command that installs it
"""


class Tool(NamedTuple):
    """A tool of the system: how to see it, which Debian package holds it, who needs it."""

    title: str
    is_there: Callable[[], bool]
    package: str
    commands: frozenset[str]
    source: str = ""
    """How it is installed where Debian 12 has none that is new enough; it then has no package."""

    @property
    def remedy(self) -> str:
        """What a person does about it."""
        return self.source or f"apt-get install {self.package}"


def _on_path(*names: str) -> Callable[[], bool]:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    return lambda: any(shutil.which(name, path=path) for name in names)


def _has_ensurepip() -> bool:
    return VENV.is_dir() or importlib.util.find_spec("ensurepip") is not None


def _can_build_kubernetes() -> bool:
    """Whether its programs are built already, or there is a Go that builds them."""
    if all((KUBERNETES / name).is_file() for name in ("etcd", "apiserver")):
        return True
    go = shutil.which("go")
    if go is None:
        return False
    done = subprocess.run([go, "version"], check=False, capture_output=True, text=True)
    found = re.search(r"\bgo(\d+)\.(\d+)", done.stdout)
    return found is not None and tuple(map(int, found.groups())) >= GO


BOTH = frozenset({"demo", "test", "check"})
SERVED = frozenset({"demo", "test"})
TESTS = frozenset({"test"})
CLUSTERS = frozenset({"test clusters"})
TOOLS: tuple[Tool, ...] = (
    Tool("Python's venv module", _has_ensurepip, "python3.11-venv", BOTH),
    Tool("a JDK 17 (javac)", _on_path("javac"), "openjdk-17-jdk-headless", BOTH),
    Tool("Maven (mvn)", _on_path("mvn"), "maven", BOTH),
    Tool("MariaDB's server (mariadbd)", _on_path("mariadbd"), "mariadb-server", SERVED),
    Tool("Chromium", _on_path("chromium"), "chromium", TESTS),
    Tool(
        f"Go {GO[0]}.{GO[1]} or newer (go)",
        _can_build_kubernetes,
        "",
        CLUSTERS,
        "unpack https://go.dev/dl into /usr/local, and add /usr/local/go/bin to PATH",
    ),
)


def needs(arguments: Sequence[str]) -> frozenset[str]:
    """Return the names by which tools say that a command line needs them: `test clusters`."""
    command, *tiers = arguments
    return frozenset({command, *(f"{command} {tier}" for tier in tiers)})


def missing_tools(needed: frozenset[str]) -> list[Tool]:
    """Return the tools that a command line needs and this machine lacks."""
    return [tool for tool in TOOLS if needed & tool.commands and not tool.is_there()]


def doctor() -> int:
    """Name each tool: there, or the command that installs it.

    Return 1 where one is missing that more than an opt-in tier of tests needs.
    """
    n_missing = 0
    for tool in TOOLS:
        if tool.is_there():
            print(f"  ok       {tool.title}")
        else:
            n_missing += bool(tool.commands & BOTH)
            needed = " and ".join(sorted(tool.commands))
            print(f"  MISSING  {tool.title}, for {needed}: {tool.remedy}")
    packages = "installed" if _lock_is_installed() else "not installed yet; ./lakewarden demo does"
    print(f"  {'ok' if _lock_is_installed() else 'later':7}  Python packages: {packages}")
    return 1 if n_missing else 0


@contextmanager
def _no_services() -> Iterator[None]:
    """Keep Debian's packages from starting system services while they are installed."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n", encoding="utf-8")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def install_tools(needed: frozenset[str]) -> bool:
    """Install what is missing by apt when that is possible; False if something stays missing."""
    missing = missing_tools(needed)
    if not missing:
        return True
    packages = [tool.package for tool in missing]
    if not all(packages) or not can_install():
        for tool in missing:
            print(f"Missing: {tool.title}. Install it, as root: {tool.remedy}")
        return False
    is_done = apt_install(packages)
    importlib.invalidate_caches()
    return is_done


def can_install() -> bool:
    """Whether this account can install Debian's packages."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: Sequence[str]) -> bool:
    """Install packages, none of whose services starts; False, with apt's words shown, if not."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    with _no_services():
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=environment)
        done = subprocess.run(install, check=False, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        print(f"apt-get could not install {' '.join(packages)}; its words are above.")
    return done.returncode == 0


def _lock_digest() -> str:
    return hashlib.sha256(b"".join(lock.read_bytes() for lock in LOCKS)).hexdigest()


def _lock_is_installed() -> bool:
    return STAMP.exists() and STAMP.read_text(encoding="utf-8") == _lock_digest()


def install_packages() -> bool:
    """Make .venv and install the locked packages, unless they are there."""
    if _lock_is_installed():
        return True
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    print("      about 120 packages, PySpark alone is 320 MB: a few minutes the first time")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    uv = [str(PYTHON), "-m", "uv", "pip", "install", "--quiet", "--python", str(PYTHON)]
    # uv takes a third of pip's time; where an index is set up for pip alone, pip does it.
    wanted = [word for lock in LOCKS for word in ("-r", str(lock))]
    is_done = _runs([*pip, UV]) and _runs([*uv, *wanted])
    if is_done or _runs([*pip, *wanted]):
        STAMP.write_text(_lock_digest(), encoding="utf-8")
        return True
    return False


def _runs(command: Sequence[str]) -> bool:
    return subprocess.run(command, check=False).returncode == 0


def _module(*words: str) -> bool:
    return subprocess.run([str(PYTHON), "-m", *words], check=False, cwd=REPO).returncode == 0


def build_java() -> bool:
    """Build the JVM functions, and keep Spark's classes in one file beside most of them.

    That file knows the jar of local files, which therefore comes first.
    """
    if not _module("stack.jvm", "local-files"):
        return False
    beside = subprocess.Popen([str(PYTHON), "-m", "stack.spark_classes"], cwd=REPO)
    is_built = _module("stack.jvm")
    return beside.wait() == 0 and is_built


def keep_bytecode() -> None:
    """Let compiled modules lie below var/ where the tree is to stay clean of them.

    Without any, each of the many processes of a stack compiles all that it imports.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(REPO / "var" / "pycache")


def set_up(needed: frozenset[str]) -> bool:
    """Run the set-up's steps in order; False at the first that fails."""
    steps: Sequence[tuple[str, Callable[[], bool]]] = (
        ("system tools", lambda: install_tools(needed)),
        ("Python packages", install_packages),
        ("jars and page assets", lambda: _module("stack.assets")),
        ("JVM functions, and Spark's classes in one file", build_java),
    )
    for number, (title, step) in enumerate(steps, start=1):
        print(f"[{number}/{len(steps)}] {title}", flush=True)
        started = time.monotonic()
        if not step():
            print(f"Set-up stopped at: {title}. Run it again when that is repaired.", flush=True)
            return False
        print(f"      done in {time.monotonic() - started:.1f} s", flush=True)
    return True


def main(arguments: Sequence[str]) -> int:
    """Do one command."""
    command = arguments[0] if arguments else ""
    if command == "doctor":
        return doctor()
    keep_bytecode()
    if command == "stop":
        if not PYTHON.exists():
            print("Nothing is running: nothing was ever set up here.")
            return 0
    elif command not in ("demo", "test", "check"):
        print(USAGE)
        return 0 if command in ("", "help", "-h", "--help") else 2
    elif not set_up(needs(arguments)):
        return 1
    os.chdir(REPO)
    # No shell: this very process goes on, so that Ctrl-C reaches it.
    return os.execv(PYTHON, [str(PYTHON), "-m", "stack.cli", *arguments])  # noqa: S606  (as said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
