"""Tests that the map in docs/architecture.md names files that exist."""

import re

from tests.architecture.source import ROOT

_PATH = re.compile(r"`([a-z_]+/[\w/.-]+)`")
_FILE = re.compile(r"`([\w/.-]+\.py)`")


def test_every_path_of_the_map_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [path for path in _PATH.findall(text) if not (ROOT / path).exists()] == []


def test_a_bare_file_name_stands_beside_the_path_before_it() -> None:
    lost = []
    for line in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines():
        folder = ROOT
        for name in _FILE.findall(line):
            if "/" in name:
                folder = (ROOT / name).parent
            elif not (folder / name).exists():
                lost.append(f"{folder.relative_to(ROOT)}: {name}")
    assert lost == []
