"""Empties the database after a test that commits: only the tables that hold rows.

Django's own flush deletes from every table and makes all content types and permissions again, which
takes longer than most tests. Nothing in the project writes those two, so they stay.
"""

from django.core.management.color import no_style
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

_KEPT = {"django_content_type", "auth_permission"}


def flush_filled(_case: TransactionTestCase) -> None:
    """Do what `TransactionTestCase` does after a test, for the tables that hold rows."""
    for connection in connections.all():
        if filled := _filled(connection):
            statements = connection.ops.sql_flush(no_style(), filled)
            connection.ops.execute_sql_flush(statements)


def _filled(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the tables of the project that hold a row."""
    known = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = sorted(set(known) - _KEPT)
    quoted = [connection.ops.quote_name(table) for table in tables]
    asked = ", ".join(f"EXISTS(SELECT 1 FROM {one})" for one in quoted)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {asked}")
        row = cursor.fetchone()
    return [table for table, has_rows in zip(tables, row, strict=True) if has_rows]
