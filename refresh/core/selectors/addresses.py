"""Reads the addresses of front ends along with a list of rows, so that no row asks for its own."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects

from refresh.models import ClusterFrontEnd


def addresses() -> "Prefetch[Any]":
    """Return what a list of tables or statements reads along: one query."""
    return Prefetch("cluster__front_ends", ClusterFrontEnd.objects.defer("config"))


def read_addresses(rows: Sequence[Any]) -> None:
    """Read them for rows that were read without; reading them twice asks once."""
    prefetch_related_objects(list(rows), addresses())
