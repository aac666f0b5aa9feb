"""Prints answers: the API's JSON as it is, or tables for people."""

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# A pipe has no width: lines are never cut for programs.
_PIPE_WIDTH = 100_000


def print_json(answer: object) -> None:
    """Print an answer of the API as it came."""
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False))


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, none: str) -> None:
    """Print one line a row, with these columns (key: title), or the sentence `none`."""
    if not rows:
        click.echo(none)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in columns.values():
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(key, row.get(key))) for key in columns))
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(width=width, file=sys.stdout).print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print one `Title: value` a line; empty values are left out."""
    given = [(title, value) for title, value in facts if value]
    width = max((len(title) for title, _ in given), default=0)
    for title, value in given:
        click.echo(f"{title + ':':<{width + 2}}{value}")


def shown(key: str, value: object) -> str:
    """Return a value for people: bytes with a unit, moments to the second, lists with commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and key.endswith("_bytes"):
        return human_bytes(value)
    if isinstance(value, list):
        return ", ".join(shown("", one) for one in value)
    text = str(value)
    return _moment(text) if key.endswith("_at") else text


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat(sep=" ", timespec="seconds")
    except ValueError:
        return text


def human_bytes(count: int) -> str:
    """Return `4.0 KiB` for 4096."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{count} B"
