"""Checks that the portal's own database distinguishes names as the lake does.

`dt=a` and `dt=a ` are two partitions, and so are names that differ by case or accent; MariaDB and
MySQL call them equal unless their collation is one that compares every sign.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Warning
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

MARIADB, MYSQL = "utf8mb4_nopad_bin", "utf8mb4_0900_bin"
_DEFAULT = """
select default_collation_name from information_schema.schemata where schema_name = database()
"""
# JSON has utf8mb4_bin of its own, and is never compared as text.
_TABLES = """
select distinct c.table_name from information_schema.columns c
join information_schema.tables t using (table_schema, table_name)
where c.table_schema = database() and t.table_type = 'BASE TABLE' and c.collation_name <> %s
and not (c.data_type = 'longtext' and c.collation_name = 'utf8mb4_bin') order by 1
"""
_COUNT = "select count(*) from information_schema.tables where table_schema = database()"


def collation_check(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Check the databases that a command works on (`migrate`, `check --database default`)."""
    return [found for alias in databases or () for found in collation_problems(connections[alias])]


def collation_problems(connection: BaseDatabaseWrapper) -> list[CheckMessage]:
    """Say what compares names loosely, with the statements that repair it.

    An error before there are tables, when it costs nothing; a warning where an upgrade must go on.
    """
    if connection.vendor != "mysql":
        return []
    right = MARIADB if getattr(connection, "mysql_is_mariadb", False) else MYSQL
    with connection.cursor() as cursor:
        cursor.execute(_DEFAULT)
        (default,) = cursor.fetchone()
        cursor.execute(_TABLES, [right])
        tables = [name for (name,) in cursor.fetchall()]
        cursor.execute(_COUNT)
        (n_tables,) = cursor.fetchone()
    if default == right and not tables:
        return []
    name = str(connection.settings_dict["NAME"])
    message = (
        f"The database {name} does not tell names apart as the lake does. Its collation has to be "
        f"{right}; it is {default}, and {len(tables)} of its {n_tables} tables have another one. "
        "Names that differ by case, accent or a space at the end are one name to it."
    )
    hint = "Stop web, supervisor and workers, back it up, and run:\n" + "\n".join(
        mending(name, tables, right, quote=connection.ops.quote_name)
    )
    if n_tables:
        return [Warning(message, hint=hint, id="portal.W001")]
    return [Error(message, hint=hint, id="portal.E001")]


def mending(
    name: str, tables: Sequence[str], right: str, *, quote: Callable[[str], str]
) -> list[str]:
    """Return the statements after which a database and these tables compare every sign."""
    how = f"CHARACTER SET utf8mb4 COLLATE {right};"
    return [
        # Keys of text lead from table to table; they fit together again when all are converted.
        "SET SESSION foreign_key_checks = 0;",
        f"ALTER DATABASE {quote(name)} {how}",
        *(f"ALTER TABLE {quote(table)} CONVERT TO {how}" for table in tables),
        "SET SESSION foreign_key_checks = 1;",
    ]
