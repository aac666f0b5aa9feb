"""How the command line shows what it does: one line a step, with its time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

console = Console(highlight=False)
END = "\x1e"
"""Begins the line by which a program behind a pipe says that it has done what it was told."""


@contextmanager
def step(title: str) -> Iterator[None]:
    """Show a step while it runs and its time when it is done."""
    started = time.monotonic()
    with console.status(title):
        yield
    console.print(f"[green]✓[/] {title} [dim]{time.monotonic() - started:.1f} s[/]")
