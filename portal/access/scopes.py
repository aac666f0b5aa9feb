"""Registry of the scopes of API tokens. Apps register theirs in `AppConfig.ready()`.

An API view takes tokens by naming the scope that they need: `token_scope = "refresh"`.
"""

import re
from dataclasses import dataclass

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


METRICS_SCOPE = "metrics"


@dataclass(frozen=True, slots=True)
class Scope:
    """One word that a token may carry, and what it lets a program do."""

    name: str
    title: str


_scopes: dict[str, Scope] = {}


def register_scope(scope: Scope) -> None:
    """Add a scope; registering a name again replaces it."""
    if not _NAME.fullmatch(scope.name):
        raise ValueError(f"{scope.name!r} is no name of a scope: one lower-case word")
    _scopes[scope.name] = scope


def all_scopes() -> list[Scope]:
    """Return every scope, by name."""
    return [_scopes[name] for name in sorted(_scopes)]
