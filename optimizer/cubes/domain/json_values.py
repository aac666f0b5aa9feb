"""Reads values of parsed JSON of which the type must be right."""

from typing import Any


def text_of(value: Any) -> str:
    """Return a text; TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def type_of(value: Any) -> str:
    """Return Spark's simple name of a type."""
    return text_of(value).lower().replace(" ", "")


def whole_of(value: Any) -> int:
    """Return a whole number; TypeError for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def number_of(value: Any) -> float:
    """Return a number; TypeError for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def list_of(value: Any) -> list[Any]:
    """Return a list; TypeError for anything else."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value
