"""Makes a small Spark program start fast. Its JVM maps the classes that a warm-up loaded before.

A small job spends most of its time loading the same thousands of classes out of 250 jars. The JVM's
class data sharing keeps them in one file; where the file does not fit (another JDK, other jars) the
JVM goes on without it.
"""

import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stack.errors import StackError
from stack.places import JARS, spark_home
from stack.process import LOOPBACK, SHORT_LIVED_JVM

ARCHIVE = JARS / "spark-classes.jsa"
LOCAL_FILES = JARS / "jvm" / "local-files.jar"
LOCAL_FILES_CLASS = "lakewarden.files.LocalFiles"
_WARM_UP = Path(__file__).with_name("spark_warm_up.py")
_OPTIONS = ("-Duser.timezone=UTC", *SHORT_LIVED_JVM)


def driver_settings() -> dict[str, str]:
    """Return the Spark settings of a program that starts fast and writes local files in-process.

    The class path is part of what the archive was made for: whoever sets another has no archive.
    Executors of a cluster have the driver's class path and options: they start as often as drivers,
    and take over the name of the files' class.
    """
    options = " ".join((*_OPTIONS, f"-XX:SharedArchiveFile={ARCHIVE}"))
    return _class_path() | {
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
    }


def _class_path() -> dict[str, str]:
    return {
        "spark.driver.extraClassPath": str(LOCAL_FILES),
        "spark.executor.extraClassPath": str(LOCAL_FILES),
        "spark.hadoop.fs.file.impl": LOCAL_FILES_CLASS,
    }


def _digest() -> str:
    """Say what the archive depends on: the JDK, the jars, what the warm-up does."""
    total = hashlib.sha256()
    java = subprocess.run(["java", "-version"], check=True, capture_output=True)
    total.update(java.stderr)
    for jar in [LOCAL_FILES, *sorted((spark_home() / "jars").glob("*.jar"))]:
        found = jar.stat()
        total.update(f"{jar}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    total.update(_WARM_UP.read_bytes() + " ".join(_OPTIONS).encode())
    return total.hexdigest()


def make() -> bool:
    """Make the archive; False if it was made from the same JDK and jars before."""
    stamp = ARCHIVE.with_suffix(".made-of")
    digest = _digest()
    if ARCHIVE.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return False
    fresh = ARCHIVE.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    options = (*_OPTIONS, f"-XX:ArchiveClassesAtExit={fresh}", "-Xlog:disable")
    settings = _class_path() | {
        "spark.driver.extraJavaOptions": " ".join(options),
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    command = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]"]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [*command, str(_WARM_UP), scratch], check=False, capture_output=True, text=True
        )
    if done.returncode != 0 or not fresh.exists():
        raise StackError(f"The warm-up of Spark failed:\n{(done.stdout + done.stderr)[-3000:]}")
    fresh.replace(ARCHIVE)
    stamp.write_text(digest, encoding="utf-8")
    return True


def main() -> int:
    """Make the archive; without it everything works too, only slower, so a failure ends nothing."""
    started = time.monotonic()
    try:
        word = "made" if make() else "made already"
    except StackError as error:
        word = f"not made; Spark programs start slower. {error}"
    print(f"  Spark's classes: {word} ({time.monotonic() - started:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
