"""Links to the lifecycle pages. Each address names the lake, so that a copied link stays valid."""

from urllib.parse import urlencode

from django.urls import reverse

from portal.ui.tables.addresses import table_url as tab_url


def table_url(lake: str, db: str, table: str, **query: str) -> str:
    """Return the page of a table, at the tab of its lifecycle."""
    return tab_url(lake, db, table, "lifecycle", **query)


def partitions_url(lake: str, db: str, table: str, **query: str) -> str:
    """Return the page of a table, at the tab of its partitions."""
    return tab_url(lake, db, table, "partitions", **query)


def details_url(lake: str, db: str, table: str, partition: str) -> str:
    """Return the page that says why an item expires."""
    path = reverse("lifecycle:why", args=[db, table])
    return f"{path}?{urlencode({'lake': lake, 'partition': partition})}"


def database_url(lake: str, db: str) -> str:
    """Return the page of a database."""
    return f"{reverse('lifecycle:database', args=[db])}?{urlencode({'lake': lake})}"


def policy_url(lake: str, db: str, table: str, **query: str) -> str:
    """Return the place of a table's policy, with its what-if."""
    return table_url(lake, db, table, **query)


def database_policy_url(lake: str, db: str) -> str:
    """Return the page of what new tables of a database get."""
    return f"{reverse('lifecycle:database-policy', args=[db])}?{urlencode({'lake': lake})}"


def shadow_url(lake: str, db: str) -> str:
    """Return the page of what OBSERVE would have done in a database."""
    return f"{reverse('lifecycle:shadow', args=[db])}?{urlencode({'lake': lake})}"


def list_url(name: str, lake: str, **query: str) -> str:
    """Return a list of the room under its filter."""
    return f"{reverse(f'lifecycle:{name}')}?{urlencode({'lake': lake, **query})}"
