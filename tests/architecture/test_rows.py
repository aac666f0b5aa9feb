"""Tests the inventory: every row that the product claims has a test on real servers in the gate."""

import ast
from collections.abc import Iterator

from tests.architecture.source import Module, modules

# Hive lifecycle, what goes beyond it, ready partitions; other rows join when those are built.
BUILT = {f"L{n}" for n in range(1, 11)} | {f"N{n}" for n in range(1, 12)} | {"B3"}
NOT_YET: dict[str, str] = {}


def test_every_row_has_a_test_on_real_servers() -> None:
    named = {row for module in modules("tests") for row in _rows(module)}
    assert sorted(BUILT - named) == sorted(NOT_YET)
    assert sorted(named - BUILT) == [], "no such row"


def test_rows_are_named_by_tests_on_real_servers_only() -> None:
    strays = [
        module.name
        for module in modules("tests")
        if any(_rows(module))
        and not module.name.startswith(("tests/integration/", "tests/faults/"))
    ]
    assert strays == []


def test_a_row_is_not_left_to_the_long_tier() -> None:
    tests = (node for one in modules("tests") for node in one.nodes(ast.FunctionDef))
    marks = [
        {ast.unparse(mark).partition("(")[0] for mark in test.decorator_list} for test in tests
    ]
    assert not any({"pytest.mark.rows", "pytest.mark.long"} <= one for one in marks)
    assert any("pytest.mark.long" in one for one in marks)


def _rows(module: Module) -> Iterator[str]:
    if "mark.rows" in module.text:
        for node in module.nodes(ast.Call):
            if ast.unparse(node.func) == "pytest.mark.rows":
                yield from (ast.literal_eval(name) for name in node.args)
