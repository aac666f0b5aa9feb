"""Makes a table of the portal's database hold a million rows in seconds: one INSERT .. SELECT.

The first row is a model instance that need not be saved; what differs from row to row is given as
SQL over `n`. The spelling follows the database, SQLite or MariaDB.
"""

from datetime import date, datetime
from typing import Any

from django.db import connection, models

_DIGITS = " UNION ALL ".join(f"SELECT {digit} AS d" for digit in range(10))


def multiply(like: models.Model, *, first: int, last: int, **differing: str) -> None:
    """Insert a row for each `n` from `first` to `last`; `differing` is SQL by field name."""
    fields = [field for field in like._meta.concrete_fields if field.attname in _named(like)]
    columns = [field for field in fields if not _is_automatic(field, differing)]
    chosen: list[str] = []
    values: list[Any] = []
    for field in columns:
        if field.attname in differing:
            chosen.append(differing[field.attname])
            continue
        chosen.append("%s")
        values.append(field.get_db_prep_save(getattr(like, field.attname), connection))
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in columns)
    table = connection.ops.quote_name(like._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {', '.join(chosen)} "
            f"FROM ({_numbers(last)}) numbers WHERE n BETWEEN {first} AND {last}",
            values,
        )


def make_room() -> None:
    """Let SQLite keep the indexes in memory while they grow."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA cache_size=-400000")


def text(*parts: str) -> str:
    """Spell the joining of texts."""
    return f"CONCAT({', '.join(parts)})" if _is_mariadb() else f"({' || '.join(parts)})"


def whole(dividend: str, divisor: int) -> str:
    """Spell a division without its rest."""
    return f"(({dividend}) {'DIV' if _is_mariadb() else '/'} {divisor})"


def rest(dividend: str, divisor: int) -> str:
    """Spell the rest of a division."""
    return f"(({dividend}) %% {divisor})"


def day(base: date, days: str) -> str:
    """Spell a day so many days after another."""
    if _is_mariadb():
        return f"DATE_ADD('{base}', INTERVAL {days} DAY)"
    return f"date('{base}', ({days}) || ' days')"


def later(base: datetime, seconds: str) -> str:
    """Spell an instant so many seconds after another."""
    start = base.strftime("%Y-%m-%d %H:%M:%S")
    if _is_mariadb():
        return f"DATE_ADD('{start}', INTERVAL {seconds} SECOND)"
    return f"datetime('{start}', ({seconds}) || ' seconds')"


def uuid(number: str) -> str:
    """Spell an id made of a number."""
    if _is_mariadb():
        return f"LPAD(HEX({number}), 32, '0')"
    return f"printf('%%032x', {number})"


def _named(like: models.Model) -> set[str]:
    return {field.attname for field in like._meta.concrete_fields}


def _is_automatic(field: "models.Field[object, object]", differing: dict[str, str]) -> bool:
    return isinstance(field, models.AutoField | models.BigAutoField) and (
        field.attname not in differing
    )


def _numbers(last: int) -> str:
    """Return the numbers from 0 to the next power of ten, as a subquery with the column `n`."""
    n_digits = len(str(last))
    places = [f"d{place}.d * {10**place}" for place in range(n_digits)]
    tables = [f"({_DIGITS}) d{place}" for place in range(n_digits)]
    return f"SELECT {' + '.join(places)} AS n FROM {', '.join(tables)}"


def _is_mariadb() -> bool:
    return connection.vendor == "mysql"
