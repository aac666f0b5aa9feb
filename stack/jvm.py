"""How the Java under jvm/ becomes the jars that Spark and the metastore load.

Each folder of jvm/ with a pom.xml is one Maven project; its jar is copied to var/jars/jvm. A folder
whose sources have not changed is not built again.
"""

import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from stack.errors import StackError
from stack.places import JARS, REPO

SOURCES = REPO / "jvm"
TARGET = JARS / "jvm"


def _digest(project: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(project.rglob("*")):
        if path.is_file() and "target" not in path.relative_to(project).parts:
            total.update(str(path.relative_to(project)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def build(project: Path) -> bool:
    """Build one project's jar; False if it was built from the same sources before."""
    stamp = TARGET / f".{project.name}-sha256"
    digest = _digest(project)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return False
    command = ["mvn", "-q", "-B", "-ntp", "-f", str(project / "pom.xml"), "package"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise StackError(f"Maven could not build {project}:\n{(done.stdout + done.stderr)[-3000:]}")
    TARGET.mkdir(parents=True, exist_ok=True)
    jars = [
        path
        for path in sorted((project / "target").glob("*.jar"))
        if not path.name.startswith("original-")
    ]
    for jar in jars:
        # Put in place by a rename: a running JVM still reads the old file.
        fresh = shutil.copy2(jar, TARGET / f".{project.name}.new")
        Path(fresh).replace(TARGET / f"{project.name}.jar")
    stamp.write_text(digest, encoding="utf-8")
    return True


def main(names: Sequence[str]) -> int:
    """Build the named projects under jvm/, or all of them."""
    for pom in sorted(SOURCES.glob("*/pom.xml")):
        if names and pom.parent.name not in names:
            continue
        started = time.monotonic()
        try:
            word = "built" if build(pom.parent) else "built already"
        except StackError as error:
            print(f"  {pom.parent.name}: FAILED\n{error}", file=sys.stderr, flush=True)
            return 1
        print(f"  {pom.parent.name}: {word} ({time.monotonic() - started:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
