"""Addresses of the pages of advice."""

from django.urls import reverse

from optimizer.models import Advice, IcebergTable
from portal.ui.tables.addresses import table_url as tab_url

ADVICE = "advice"
"""The key of the tab."""


def advice_url(row: Advice) -> str:
    """Return the page of one advice."""
    return reverse("optimizer:advice-shown", args=[row.pk])


def advice_tab_url(row: IcebergTable) -> str:
    """Return the tab of a table's advice."""
    return tab_url(row.lake, row.db, row.table, ADVICE)
