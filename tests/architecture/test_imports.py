"""Tests that heavy engines and test code stay in their places; the gate `imports` does the rest."""

import ast
import re
from importlib.metadata import packages_distributions

import pytest

from tests.architecture.source import PRODUCT, ROOT, migrations, modules

PYSPARK_PLACES = (
    "portal/spark/",
    "stack/lake",
    "stack/spark_warm_up",
    "bench/",
    "tests/",
)
CELERY_PLACES = ("tasks/", "tests/")


@pytest.mark.parametrize(
    ("engine", "places"), [("pyspark", PYSPARK_PLACES), ("celery", CELERY_PLACES)]
)
def test_an_engine_is_imported_only_in_its_places(engine: str, places: tuple[str, ...]) -> None:
    strays = [
        module.name
        for module in modules()
        if not module.name.startswith(places)
        and not (engine == "pyspark" and "jobs" in module.layers)
        and any(name.split(".")[0] == engine for name in module.imports)
    ]
    assert strays == []


def test_tests_and_benches_are_imported_by_nobody_in_the_product() -> None:
    strays = [
        (module.name, name)
        for module in modules(*PRODUCT, "stack")
        for name in module.imports
        if name.split(".")[0] in {"tests", "bench"}
    ]
    assert strays == []


def _locked(name: str) -> set[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line.partition("==")[0] for line in lines}


def test_the_product_stands_on_what_a_host_that_runs_it_installs() -> None:
    run, dev = _locked("requirements.lock"), _locked("requirements-dev.lock")
    assert not run & dev
    given = packages_distributions()
    strays = [
        (module.name, name)
        for module in modules(*PRODUCT)
        for name in sorted({name.split(".")[0] for name in module.imports})
        if (found := {re.sub(r"[-_.]+", "-", one).lower() for one in given.get(name, ())})
        and not found & run
    ]
    assert strays == []


def test_the_command_line_installs_alone() -> None:
    product = {*PRODUCT, "stack", "tests", "bench"}
    folder = ROOT / "cli" / "lakewarden_cli"
    found = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert "click" in found
    assert [name for name in found if str(name).split(".")[0] in product] == []


def test_a_migration_imports_nothing_of_the_product() -> None:
    """Old migrations run for ever: a class that moves or is renamed must not break them."""
    strays = [
        (migration.name, name)
        for migration in migrations()
        for name in migration.imports
        if name.split(".")[0] in PRODUCT
    ]
    assert strays == []
