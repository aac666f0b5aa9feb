"""The tree itself: areas hold capabilities, capabilities hold the same few layers.

Packages of the platform hold capabilities too where one folder would be a heap.
"""

import tomllib
from collections.abc import Iterator

import pytest

from tests.architecture.source import PRODUCT, ROOT, modules

LAYERS = {
    "domain",
    "models",
    "connectors",
    "selectors",
    "services",
    "run_kinds",
    "jobs",
    "ui",
    "api",
    "urls",
    "registration",
    "converters",
    # The protocol of moving data, for jobs and for services that settle what a job left half done:
    # neither may import the other, and it reads files and the metastore, which a domain may not.
    "engine",
    # Only of a capability whose tables have an app label of their own.
    "apps",
}
# What an area has once: how its capabilities are put together, and what Django looks for by name;
# `refresh.client` is one file, so that schedulers can copy it.
ONCE = {
    "__init__",
    "apps",
    "models",
    "urls",
    "api_urls",
    "hook_urls",
    "management",
    "templatetags",
    "client",
}
# A capability may hold capabilities in its turn: it is an area of its own then.
AREAS = (
    *("lifecycle", "optimizer", "optimizer/hudi", "optimizer/iceberg"),
    *("pipelines", "pipelines/cdc", "quality", "refresh"),
)
# Packages of the platform that hold capabilities; their modules are named for what they do.
PLATFORM = ("portal/runs", "portal/ui")
# Packages of the platform that are one capability, with the layers of one.
SINGLE = ("portal/catalog",)
MOST_FILES = 15


@pytest.mark.parametrize("area", PLATFORM)
def test_every_folder_of_a_platform_package_has_its_place_in_the_order(area: str) -> None:
    folders = {init.parent.name for init in (ROOT / area).glob("*/__init__.py")}
    assert folders - ONCE - {"migrations"} == set(_order(area))


@pytest.mark.parametrize("area", AREAS)
def test_every_capability_has_its_place_in_the_order_of_its_area(area: str) -> None:
    capabilities = {inner[0] for _, inner in _inside(area)}
    assert capabilities == set(_order(area))


@pytest.mark.parametrize("area", AREAS)
def test_every_file_of_a_capability_belongs_to_a_layer(area: str) -> None:
    strays = [
        name
        for name, inner in _inside(area)
        if f"{area}/{inner[0]}" not in AREAS and inner[1] not in {*LAYERS, "__init__"}
    ]
    assert strays == []


@pytest.mark.parametrize("package", SINGLE)
def test_every_file_of_a_platform_capability_belongs_to_a_layer(package: str) -> None:
    layers = {inner[0] for _, inner in _inside(package)}
    assert layers - LAYERS == set()


@pytest.mark.parametrize("area", [*AREAS, *PLATFORM])
def test_every_capability_says_what_it_is_for(area: str) -> None:
    silent = [name for name in _order(area) if not _says(area, name)]
    assert silent == []


@pytest.mark.parametrize("area", PRODUCT)
def test_no_folder_is_a_heap(area: str) -> None:
    heaps = {
        str(folder.relative_to(ROOT)): len(files)
        for folder in {module.path.parent for module in modules(area)}
        if len(files := [file for file in folder.glob("*.py") if file.stem != "__init__"])
        > MOST_FILES
    }
    assert heaps == {}


@pytest.mark.parametrize("tier", ["unit", "component", "integration", "faults", "trino"])
def test_every_test_lies_in_the_folder_of_an_area_or_capability(tier: str) -> None:
    lost = [
        module.name
        for module in modules("tests")
        if module.name.startswith(f"tests/{tier}/")
        and module.path.name.startswith("test_")
        and not _is_of_the_product("/".join(module.layers[2:-1]))
    ]
    assert lost == []


def _is_of_the_product(folder: str) -> bool:
    return folder == "whole" or (folder != "" and (ROOT / folder).is_dir())


def _inside(area: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the modules of an area's capabilities: their names, and where they are in the area."""
    depth = area.count("/") + 1
    for module in modules(area):
        inner = module.layers[depth:]
        if inner[0] not in ONCE:
            yield module.name, inner


def _order(area: str) -> list[str]:
    """Return the capabilities of an area from its import contract, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and contract.get("containers") == [area.replace("/", ".")]:
            return [name.strip() for layer in contract["layers"] for name in layer.split("|")]
    raise AssertionError(f"no import contract orders the capabilities of {area}")


def _says(area: str, capability: str) -> bool:
    return bool((ROOT / area / capability / "__init__.py").read_text(encoding="utf-8").strip())
