"""Reads a setting that is a list."""

import os


def listed(name: str, default: str = "") -> tuple[str, ...]:
    """Return what stands between the commas of an environment variable, without what is empty."""
    return tuple(filter(None, os.environ.get(name, default).split(",")))
