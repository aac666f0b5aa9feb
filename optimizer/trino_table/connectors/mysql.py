"""Client of the database that Trino's MySQL event listener writes to; it reads one table."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import pymysql
from pymysql.cursors import DictCursor

from portal.connectors.lake_config import TrinoQueriesDb
from portal.lake.errors import ExternalFailure

MOST_TEXT = 2 * 1024**2
"""Bytes of a plan or of inputs that are read; a longer one is left where it is."""
CONNECT_SECONDS = 5
_IDS = """
SELECT query_id FROM trino_queries WHERE query_id > %s AND query_id < %s
ORDER BY query_id LIMIT %s
"""
# Trino writes plans of any length; of a query's text its beginning is enough.
_ROWS = """
SELECT query_id, query_state, query_type, `user`, source, catalog, `schema`, wall_time_millis,
       physical_input_bytes, LEFT(query, 500000) AS query,
       IF(LENGTH(stage_info_json) <= %s, stage_info_json, NULL) AS stage_info_json,
       IF(LENGTH(inputs_json) <= %s, inputs_json, NULL) AS inputs_json
FROM trino_queries WHERE query_id IN %s ORDER BY query_id
"""
_BAD_LOGIN = 1045
_TELLING = ("mysql_clear_password", "dialog")


class _NeverTold:
    """Refuses a way of logging in that gives the password away to whatever asks for it."""

    def __init__(self, connection: Any) -> None:
        """Take what the driver gives."""

    def authenticate(self, _packet: Any) -> Any:
        raise pymysql.OperationalError(
            _BAD_LOGIN, "It asks for the password itself; give the portal a user without that."
        )


class TrinoTable:
    """An open connection; not for several threads."""

    def __init__(self, connection: Any, *, place: str) -> None:
        self._connection = connection
        self._place = place

    @classmethod
    def connect(cls, database: TrinoQueriesDb) -> Self:
        """Connect as the user of the lake's configuration.

        Raises:
            ExternalFailure: `queries.table`, or `config.password_file`.
        """
        place = f"{database.host}:{database.port}/{database.database}"
        password = database.password()
        with _read_errors(place):
            connection: Any = pymysql.connect(
                host=database.host,
                port=database.port,
                user=database.user,
                password=password,
                database=database.database,
                charset="utf8mb4",
                autocommit=True,
                cursorclass=DictCursor,
                ssl={"ca": database.ssl_ca} if database.ssl_ca else None,
                ssl_disabled=not database.ssl_ca,
                auth_plugin_map=dict.fromkeys(_TELLING, _NeverTold),
                connect_timeout=CONNECT_SECONDS,
                read_timeout=database.timeout_seconds,
                write_timeout=database.timeout_seconds,
            )
        return cls(connection, place=place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        try:
            self._connection.close()
        except pymysql.MySQLError:
            return  # a connection that cannot be closed properly is of no use either way

    def ids(self, *, after: str, before: str, most: int) -> list[str]:
        """Return the ids of queries between two, in order; a range of the table's key."""
        rows = self._read(_IDS, [after, before, most])
        return [str(row["query_id"]) for row in rows]

    def rows(self, ids: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return some queries in the order of their ids; plans that are too long are None."""
        return self._read(_ROWS, [MOST_TEXT, MOST_TEXT, tuple(ids)])

    def _read(self, sql: str, values: Sequence[object]) -> list[Mapping[str, Any]]:
        with _read_errors(self._place), self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())


@contextmanager
def _read_errors(place: str) -> Iterator[None]:
    try:
        yield
    except (pymysql.MySQLError, OSError) as error:
        said = str(error.args[1]) if len(error.args) > 1 else str(error)
        raise ExternalFailure(
            "queries.table",
            f"Trino's table trino_queries in {place} cannot be read: {said[:500]}",
            service="trino_queries",
            retryable=True,
            place=place,
        ) from error
