"""Tests what a machine is looked at for before a command, and where compiled modules lie."""

import os
import re
from pathlib import Path

import pytest

from stack import bootstrap
from stack.bootstrap import GO, install_tools, keep_bytecode, missing_tools, needs
from stack.kubernetes_assets import API_SERVER, ETCD
from stack.places import REPO


def test_a_tree_to_be_kept_clean_has_its_compiled_modules_below_var(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")
    keep_bytecode()
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ
    assert os.environ["PYTHONPYCACHEPREFIX"] == str(REPO / "var" / "pycache")


def test_otherwise_they_lie_where_python_puts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    keep_bytecode()
    assert "PYTHONPYCACHEPREFIX" not in os.environ


def with_go(monkeypatch: pytest.MonkeyPatch, folder: Path, version: str) -> None:
    """Have a machine with a Go that says its version, and Kubernetes not built."""
    (folder / "go").write_text(f"#!/bin/sh\necho 'go version {version} linux/amd64'\n")
    (folder / "go").chmod(0o755 if version else 0o644)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(bootstrap, "KUBERNETES", folder)


def lacking(*words: str) -> set[str]:
    return {tool.title for tool in missing_tools(needs(words))}


@pytest.mark.parametrize(
    ("version", "is_missing"),
    [("", True), ("go1.19.8", True), ("go1.23.12", True), ("go1.24.0", False), ("go1.26.8", False)],
)
def test_the_tier_of_clusters_wants_a_go_that_builds_kubernetes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, is_missing: bool
) -> None:
    with_go(monkeypatch, tmp_path, version)
    title = "Go 1.24 or newer (go)"
    assert (title in lacking("test", "unit", "clusters")) is is_missing
    assert title not in lacking("test") | lacking("test", "unit") | lacking("check")
    for name in ("etcd", "apiserver"):
        (tmp_path / name).touch()
    assert title not in lacking("test", "clusters")


def test_a_tool_that_debian_does_not_have_is_named_before_anything_else_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_go(monkeypatch, tmp_path, "go1.19.8")
    assert not install_tools(frozenset({"test clusters"}))
    said = "Go 1.24 or newer (go). Install it, as root: unpack https://go.dev/dl into /usr/local"
    assert said in capsys.readouterr().out
    bootstrap.doctor()
    assert "MISSING  Go 1.24 or newer (go), for test clusters: unpack" in capsys.readouterr().out


def test_what_is_looked_for_is_what_is_built() -> None:
    assert {ETCD, API_SERVER} == {bootstrap.KUBERNETES / name for name in ("etcd", "apiserver")}
    wanted = re.search(r"^go (\d+)\.(\d+)", (REPO / "stack/kubernetes/go.mod").read_text(), re.M)
    assert wanted is not None
    assert tuple(map(int, wanted.groups())) == GO
