"""The charts' library comes as a part where npm is there, and as the whole where it is not."""

from pathlib import Path

import pytest

from stack import plotly_bundle
from stack.errors import StackError


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the library is put, with no program within reach."""
    where = tmp_path / "plotly" / "plotly.min.js"
    monkeypatch.setattr(plotly_bundle, "TARGET", where)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return where


def npm(target: Path, body: str) -> None:
    """Put a program of this name within reach."""
    program = target.parents[1] / "bin" / "npm"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)


def test_without_npm_the_whole_is_taken_once(target: Path) -> None:
    assert plotly_bundle.unpack_plotly()
    assert target.read_bytes().startswith(b"/**\n* plotly.js v")
    assert f"v{plotly_bundle.VERSION}".encode() in target.read_bytes()[:100]
    assert not plotly_bundle.unpack_plotly()


def test_where_npm_cannot_reach_it_the_whole_is_taken(target: Path) -> None:
    npm(target, "exit 1")
    assert plotly_bundle.unpack_plotly()
    assert not plotly_bundle.unpack_plotly()


def test_another_file_than_the_pinned_one_is_refused(target: Path) -> None:
    npm(
        target,
        "/bin/mkdir package && echo other > package/plotly-cartesian.min.js"
        " && PATH=/usr/bin:/bin tar czf x.tgz package",
    )
    with pytest.raises(StackError, match="another file"):
        plotly_bundle.unpack_plotly()
    assert not target.exists()
