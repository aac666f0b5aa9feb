"""The project's own Python files, read once for all architecture tests."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("portal", "lifecycle", "refresh", "optimizer", "quality", "tasks")
ROOMS = (*PRODUCT, "stack", "bench", "tests")


@dataclass(frozen=True)
class Module:
    """One Python file with its parsed tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """The path from the root of the repository, as in messages."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the folders and of the file, without its ending."""
        return self.path.relative_to(ROOT).with_suffix("").parts

    @property
    def lines(self) -> list[str]:
        """The file's lines."""
        return self.text.splitlines()

    def imports(self) -> Iterator[str]:
        """Yield every module named in an import statement, wherever it stands."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def modules(*rooms: str) -> tuple[Module, ...]:
    """Return the modules of the named rooms (all without arguments), migrations left out."""
    found = [ROOT / "manage.py"] if not rooms else []
    for room in rooms or ROOMS:
        found += sorted((ROOT / room).rglob("*.py"))
    return tuple(
        _module(path) for path in found if path.is_file() and "migrations" not in path.parts
    )


def migrations() -> Iterator[Module]:
    """Return the product's migrations."""
    for room in PRODUCT:
        for path in sorted((ROOT / room).rglob("migrations/*.py")):
            yield _module(path)


@cache
def _module(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path, text, ast.parse(text, str(path)))
