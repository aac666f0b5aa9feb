"""Tests where compiled modules lie while a stack of many processes runs."""

import os

import pytest

from stack.bootstrap import keep_bytecode
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
