"""What an upsert of many rows is told of the key that it may find taken."""

from django.db import connection


def conflict_key(*fields: str) -> list[str] | None:
    """Return the fields of a unique key; None on MySQL, which takes any and refuses to be told."""
    return list(fields) if connection.features.supports_update_conflicts_with_target else None
