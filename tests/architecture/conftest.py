"""Keeps these tests on one worker of pytest-xdist, so that the tree is parsed once."""

from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of this folder into one group."""
    for item in items:
        if item.path.parent == _HERE:
            item.add_marker(pytest.mark.xdist_group("architecture"))
