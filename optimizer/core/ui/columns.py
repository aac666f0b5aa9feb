"""Columns of lists that the templates of this area show."""

from typing import Any

from portal.ui.lists.tables import Column


def cell(title: str, name: str, **options: Any) -> Column:
    """Return a column that a template of the room shows."""
    template = f"optimizer/_cell_{name}.html"
    return Column(key="", title=title, kind="template", template=template, **options)
