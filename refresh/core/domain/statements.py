"""Texts of the statements sent to a front end. Every statement of the app is written here.

FORCE is never sent: no released version takes it. A refresh has no form for a whole catalog or
database, and names partitions as the metastore does, letter by letter.
"""

from collections.abc import Sequence

from portal.lake.errors import RuleViolation
from refresh.core.domain.names import ExternalTable, literal, quoted
from refresh.core.domain.versions import Dialect

SHOW_FRONTENDS = "SHOW FRONTENDS"
SHOW_RESOURCES = "SHOW RESOURCES"
SHOW_CATALOGS = "SHOW CATALOGS"
SHOW_DATABASES = "SHOW DATABASES"
SHOW_GRANTS = "SHOW GRANTS"


def refresh(table: ExternalTable, *, dialect: Dialect, partitions: Sequence[str] = ()) -> str:
    """Write the refresh of a table, or of those of its partitions."""
    if table.catalog and dialect is Dialect.RESOURCES:
        raise RuleViolation(
            "starrocks.catalog",
            f"{table} is in a catalog, which this front end is too old to know. Refresh it on "
            "a front end of version 2.3 or later.",
            table=table,
        )
    text = f"REFRESH EXTERNAL TABLE {table.sql}"
    if not partitions:
        return text
    return f"{text} PARTITION ({', '.join(literal(name) for name in partitions)})"


def explain_costs(table: ExternalTable, where: Sequence[tuple[str, str]] = ()) -> str:
    """Write the probe that says how many partitions and rows a front end believes in.

    `where`: equalities on partition columns, which select one partition.
    """
    text = " ".join(("EXPLAIN COSTS SELECT * FROM", table.sql))
    equal = " AND ".join(f"{quoted(column)} = {literal(value)}" for column, value in where)
    return f"{text} WHERE {equal}" if equal else text


def show_create_table(table: ExternalTable) -> str:
    """Write the question for a front end's own picture of a table."""
    return f"SHOW CREATE TABLE {table.sql}"


def show_create_catalog(catalog: str) -> str:
    """Write the question for a catalog's properties."""
    return f"SHOW CREATE CATALOG {quoted(catalog)}"


def show_tables(db: str, *, catalog: str = "") -> str:
    """Write the question for the tables of a database."""
    return f"SHOW TABLES FROM {quoted(catalog) + '.' if catalog else ''}{quoted(db)}"


def frontend_config(pattern: str) -> str:
    """Write the question for the connected front end's own settings."""
    return f"ADMIN SHOW FRONTEND CONFIG LIKE {literal(pattern)}"


def show_role_grants(role: str) -> str:
    """Write the question for what a role of ours may do."""
    return f"SHOW GRANTS FOR ROLE {literal(role)}"


def set_query_timeout(seconds: int) -> str:
    """Write the bound of a session; it bounds the calls to other front ends, not the local part."""
    return f"SET query_timeout = {max(1, int(seconds))}"
