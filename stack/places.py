"""Where things lie in the work tree: jars, vendor assets, logs. Decides nothing else."""

import os
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
POMS = REPO / "stack" / "jars"
JAVA_SOURCES = REPO / "stack" / "java"
JARS = REPO / "var" / "jars"
CLASSES = REPO / "var" / "classes"
VENDOR = REPO / "static" / "vendor"
# The demo that the browser tier serves; the gate makes it beside the other tiers.
BROWSER_VAR = Path(os.environ.get("LAKEWARDEN_BROWSER_VAR", REPO / "var" / "browser")).resolve()


def var_directory() -> Path:
    """Return the folder of the demo's own state (LAKEWARDEN_VAR, else var/demo)."""
    return Path(os.environ.get("LAKEWARDEN_VAR", REPO / "var" / "demo")).resolve()


def spark_home() -> Path:
    """Return the pip-installed Spark's folder, without importing pyspark."""
    site = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    return site / "pyspark"


def jars_of(name: str) -> tuple[Path, ...]:
    """Return the jars of one set under var/jars, sorted by name."""
    return tuple(sorted((JARS / name).glob("*.jar")))
