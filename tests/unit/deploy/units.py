"""Reads systemd units, and the processes that docs/operations.md names."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "deploy" / "systemd"
SERVICES = sorted(FOLDER.glob("*.service"))
INSTALLED = "/opt/lakewarden/.venv/bin/"
_ROW = re.compile(r"^\| ([\w ]+) \| `([^`]+)`", re.MULTILINE)


def unit(path: Path) -> dict[str, list[str]]:
    """Return the settings of a unit, each with all of its values; sections are left out."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, is_setting, value = line.partition("=")
        if is_setting and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def only(path: Path, name: str) -> str:
    """Return a setting that a unit has once."""
    (value,) = unit(path)[name]
    return value


def processes() -> dict[str, str]:
    """Return the command of each process in docs/operations.md."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    table = text.partition("## Processes")[2].partition("\n\n`")[0]
    return dict(_ROW.findall(table))
