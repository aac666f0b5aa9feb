"""Tests docs/operations.md: it names every code that stops a lake, and every gauge."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import PRODUCT, ROOT, modules

BOOK = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def calls(name: str) -> Iterator[ast.Call]:
    """Yield every call of a name in the product."""
    for module in modules(*PRODUCT):
        if f"{name}(" in module.text:
            yield from (
                node for node in module.nodes(ast.Call) if getattr(node.func, "id", "") == name
            )


def first_words(name: str) -> set[str]:
    """Return the first argument of every such call, where it is written out."""
    return {
        str(call.args[0].value)
        for call in calls(name)
        if call.args and isinstance(call.args[0], ast.Constant)
    }


def families() -> set[str]:
    """Return the gauges of the platform, and those that rooms register."""
    (metrics,) = (one for one in modules("portal") if one.name == "portal/metrics.py")
    yields = [node.value for node in metrics.nodes(ast.Yield)]
    named = [one.elts[0] for one in yields if isinstance(one, ast.Tuple) and len(one.elts) == 3]
    return {str(one.value) for one in named if isinstance(one, ast.Constant)} | first_words("Gauge")


@pytest.mark.parametrize("code", sorted(first_words("DataSafetyError")))
def test_every_code_that_presses_the_red_button_has_its_line(code: str) -> None:
    assert f"`{code}`" in BOOK


@pytest.mark.parametrize("name", sorted(families()))
def test_every_gauge_is_named(name: str) -> None:
    assert re.search(rf"`lakewarden_{name}\b", BOOK)
