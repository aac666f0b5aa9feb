"""Addresses of tables' pages. Each names the lake, so that a copied link stays valid."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from portal.access.models import User
from portal.catalog.selectors import table_or_none
from portal.catalog.services.registry import OVERVIEW, tab_of
from portal.ui.frame.context import current_lake, person


def table_url(
    lake: str, db: str, table: str, key: str = OVERVIEW, part: str = "", **query: str
) -> str:
    """Return the page of a table, or one of its tabs, or a part of that."""
    return f"{table_path(db, table, key, part)}?{urlencode({'lake': lake, **query})}"


def table_path(db: str, table: str, key: str = OVERVIEW, part: str = "") -> str:
    """Return the same without the lake."""
    if part:
        return reverse("ui:table-part", args=[db, table, key, part])
    if key != OVERVIEW:
        return reverse("ui:table-tab", args=[db, table, key])
    return reverse("ui:table", args=[db, table])


def tables_url(lake: str, **query: str) -> str:
    """Return the list of tables under its filter."""
    return f"{reverse('ui:tables')}?{urlencode({'lake': lake, **query})}"


def database_url(lake: str, db: str) -> str:
    """Return the page of a database."""
    return f"{reverse('ui:database', args=[db])}?{urlencode({'lake': lake})}"


def tab_or(
    name: tuple[str, str, str],
    key: str,
    part: str = "",
    *,
    user: User,
    otherwise: str,
    **query: str,
) -> str:
    """Return where to go after something was done to a table: its tab, or `otherwise`.

    Between two scans the catalog does not know a new table, or not yet as one of its format; then
    its page would answer that there is nothing, and what was done would not be seen.
    """
    found = table_or_none(*name, user=user)
    tab = tab_of(found, key) if found is not None else None
    if found is None or tab is None or not tab.applies(found, user):
        return otherwise
    return table_url(*name, key, part, **query)


def moved_to_tab(
    request: HttpRequest,
    db: str,
    table: str,
    key: str,
    part: str = "",
    *,
    lake: str = "",
    **query: str,
) -> HttpResponseRedirect | None:
    """Return the way from the former address of a page to the tab that it became.

    None where it stays: the catalog has no such table for the person, or the request does
    something. Browsers do not keep the answer, for the name may come to mean another table.
    """
    if request.method not in {"GET", "HEAD"}:
        return None
    lake, user = lake or current_lake(request), person(request)
    found = table_or_none(lake, db, table, user=user)
    tab = tab_of(found, key) if found is not None else None
    if found is None or tab is None or not tab.applies(found, user):
        return None
    asked = request.GET.copy()
    for name, value in {"lake": lake, **query}.items():
        asked[name] = value
    return HttpResponseRedirect(f"{table_path(db, table, key, part)}?{asked.urlencode()}")
