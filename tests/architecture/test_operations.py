"""Tests docs/operations.md: it names every code that stops a lake, and every gauge."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import PRODUCT, ROOT, modules

REQUESTS = "lakewarden_http_request_seconds"
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
    """Return what /metrics gives: all gauges, and how requests were answered."""
    return {f"lakewarden_{name}" for name in first_words("Gauge")} | {REQUESTS}


@pytest.mark.parametrize("code", sorted(first_words("DataSafetyError")))
def test_every_code_that_presses_the_red_button_has_its_line(code: str) -> None:
    assert f"`{code}`" in BOOK


def test_the_book_and_metrics_name_the_same_numbers() -> None:
    named = set(re.findall(r"`(lakewarden_[a-z_]*[a-z])\b", BOOK))
    assert named == families()
