"""Which third-party files the portal and its servers need, and how they get here.

Jars come by Maven from the poms under stack/jars into var/jars; pages' assets are unpacked from
WebJars and PyPI packages into static/vendor. Running it twice does nothing the second time.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from stack.errors import StackError
from stack.places import CLASSES, JARS, JAVA_SOURCES, POMS, VENDOR
from stack.plotly_bundle import unpack_plotly
from stack.servers.derby import make_template

SETS = ("metastore", "spark", "hdfs", "web", "ldap", "kafka")
_WEBJARS = "META-INF/resources/webjars"
_FROM_WEBJARS = {
    "tabler__core-1.4.0.jar": {
        f"{_WEBJARS}/tabler__core/1.4.0/dist/css/tabler.min.css": "tabler/tabler.min.css",
        f"{_WEBJARS}/tabler__core/1.4.0/dist/js/tabler.min.js": "tabler/tabler.min.js",
    },
    "htmx.org-2.0.10.jar": {
        f"{_WEBJARS}/htmx.org/2.0.10/dist/htmx.min.js": "htmx/htmx.min.js",
    },
    "tabler__icons-webfont-3.35.0.jar": {
        f"{_WEBJARS}/tabler__icons-webfont/3.35.0/dist/{name}": f"tabler-icons/{name}"
        for name in (
            "tabler-icons.min.css",
            "fonts/tabler-icons.woff2",
            "fonts/tabler-icons.woff",
            "fonts/tabler-icons.ttf",
        )
    },
}
_FROM_PACKAGES = (("axe_playwright_python", "axe.min.js", "axe/axe.min.js"),)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fetch_jars(name: str) -> bool:
    """Copy the jars of one set into var/jars; returns False if they were there already."""
    pom, target = POMS / name / "pom.xml", JARS / name
    stamp = target / ".pom-sha256"
    if stamp.exists() and stamp.read_text() == _digest(pom):
        return False
    target.mkdir(parents=True, exist_ok=True)
    command = [
        "mvn",
        "-q",
        "-B",
        "-ntp",
        "-f",
        str(pom),
        "dependency:copy-dependencies",
    ]
    command += [f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise StackError(f"Maven could not fetch {pom}:\n{(done.stdout + done.stderr)[-3000:]}")
    stamp.write_text(_digest(pom))
    return True


def unpack_metastore() -> bool:
    """Unpack the metastore's distribution (its lib/ and schema scripts) beside its extra jars."""
    archive = JARS / "metastore" / "hive-standalone-metastore-3.1.3-bin.tar.gz"
    target = JARS / "metastore" / "hms"
    if (target / "lib").is_dir():
        return False
    fresh = target.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    # Debian 12's Python 3.11.2 has no filters yet; the archive is Apache's, by Maven's checksum.
    shutil.unpack_archive(archive, fresh)
    (top,) = fresh.iterdir()
    shutil.rmtree(target, ignore_errors=True)
    top.rename(target)
    fresh.rmdir()
    return True


def unpack_web() -> bool:
    """Put the pages' third-party CSS, JS and fonts into static/vendor."""
    wanted = [f for files in _FROM_WEBJARS.values() for f in files.values()]
    wanted += [target for _, _, target in _FROM_PACKAGES]
    if all((VENDOR / name).is_file() for name in wanted):
        return False
    for jar, files in _FROM_WEBJARS.items():
        with zipfile.ZipFile(JARS / "web" / jar) as archive:
            for source, target in files.items():
                _write(VENDOR / target, _without_source_map(archive.read(source)))
    for package, source, target in _FROM_PACKAGES:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise StackError(f"The Python package {package} is missing; run ./lakewarden demo.")
        _write(VENDOR / target, (Path(spec.origin).parent / source).read_bytes())
    return True


def _without_source_map(data: bytes) -> bytes:
    """Drop the pointer to a source map: hashed static file names refuse pointers to nowhere."""
    return re.sub(rb"/[/*][#@] sourceMappingURL=[^\n*]*(\*/)?", b"", data)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def compile_mini_hdfs() -> bool:
    """Compile the one-JVM NameNode and DataNode."""
    return compile_java("MiniHdfs", jars="hdfs", target="hdfs")


def compile_java(name: str, *, jars: str, target: str) -> bool:
    """Compile one class of stack/java against a set of jars; False if nothing has changed."""
    source, folder = JAVA_SOURCES / f"{name}.java", CLASSES / target
    stamp = folder / ".source-sha256"
    if stamp.exists() and stamp.read_text() == _digest(source):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    command = ["javac", "-cp", f"{JARS / jars}/*", "-d", str(folder), str(source)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise StackError(f"javac could not compile {source}:\n{done.stderr[-3000:]}")
    stamp.write_text(_digest(source))
    return True


def main() -> int:
    """Fetch and unpack everything, saying each step and its time."""
    steps: list[tuple[str, Callable[[], bool]]] = [
        (f"jars for {name}", partial(fetch_jars, name)) for name in SETS
    ]
    steps += [
        ("the metastore's distribution", unpack_metastore),
        ("CSS, JavaScript and fonts", unpack_web),
        ("Plotly for charts", unpack_plotly),
        ("the small HDFS", compile_mini_hdfs),
        ("the metastore's schema on Derby", make_template),
    ]
    for title, step in steps:
        started = time.monotonic()
        try:
            done = step()
        except StackError as error:
            print(f"  {title}: FAILED\n{error}", file=sys.stderr, flush=True)
            return 1
        word = "fetched" if done else "there already"
        print(f"  {title}: {word} ({time.monotonic() - started:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
