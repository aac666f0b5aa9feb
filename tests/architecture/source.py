"""The project's own Python files, read, parsed and walked once for all architecture tests."""

import ast
import gc
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar, cast

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("portal", "lifecycle", "refresh", "optimizer", "quality", "pipelines", "tasks")
ROOMS = (*PRODUCT, "stack", "bench", "tests")
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Module:
    """One Python file, with what its text is parsed into when first asked."""

    path: Path
    text: str

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

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text; the garbage collector never looks at its many nodes."""
        gc.disable()
        try:
            return ast.parse(self.text, str(self.path))
        finally:
            gc.freeze()
            gc.enable()

    @cached_property
    def imports(self) -> frozenset[str]:
        """Every module named in an import statement, wherever it stands."""
        named = {alias.name for node in self.nodes(ast.Import) for alias in node.names}
        for node in self.nodes(ast.ImportFrom):
            if node.module:
                named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return frozenset(named)

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return the nodes of a kind, wherever they stand."""
        return cast("list[Node]", self._by_kind.get(kind, []))

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in ast.walk(self.tree):
            found[type(node)].append(node)
        return found


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


def page_texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each template of a page or mail."""
    for folder in (ROOT / "templates", *ROOT.glob("*/templates")):
        for kind in ("html", "txt"):
            for path in sorted(folder.rglob(f"*.{kind}")):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@cache
def _module(path: Path) -> Module:
    return Module(path, path.read_text(encoding="utf-8"))
