"""Addresses of the pages of cubes."""

from django.urls import reverse

from optimizer.models import Cube, IcebergTable
from portal.ui.tables.addresses import table_url as tab_url

CUBES = "cubes"
"""The key of the tab."""


def cube_url(row: Cube) -> str:
    """Return the page of a cube."""
    return reverse("optimizer:cube", args=[row.pk])


def report_url(row: Cube) -> str:
    """Return where readers of the cube's lake report; a setting of their catalogs."""
    return reverse("optimizer-hook:index-reports", args=[row.table.lake])


def cubes_tab_url(row: IcebergTable) -> str:
    """Return the tab of a table's cubes."""
    return tab_url(row.lake, row.db, row.table, CUBES)
