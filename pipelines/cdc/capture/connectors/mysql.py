"""Connections to a source, always with time-outs, and its errors in the portal's words."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import pymysql
from pymysql.connections import Connection
from pymysql.cursors import Cursor

from pipelines.cdc.capture.domain.config import SourceConfig
from portal.lake.errors import ExternalFailure

IDLE_SECONDS = 20.0
"""A connection that was not used for so long is tried before it is used."""
Link: TypeAlias = "Connection[Cursor]"

_ACCESS = frozenset({1044, 1045, 1142, 1143, 1227, 1370, 1698, 1820, 1862, 4151})
_BINLOG = 1236
_KILLED = frozenset({1317, 1927, 3169, 4052})
_LOST = frozenset({1040, 1053, 1158, 1159, 1160, 1161, 1205, 1213, 2002, 2003, 2005, 2006, 2013})
# Texts must not depend on the server's own settings: no padding of CHAR, no other quotes.
_SESSION = "SET time_zone = '+00:00', sql_mode = ''"
_PURGED = (
    "could not find",
    "purged",
    "impossible position",
    "file size",
    "binlog truncated",
    "not find",
)


def connect(config: SourceConfig, **more: Any) -> Link:
    """Open a connection in UTC and utf8mb4, which reads and never writes.

    Raises:
        ExternalFailure: `cdc.unreachable` or `cdc.access`.
    """
    with translated(config):
        return pymysql.connect(
            host=config.host,
            port=config.port,
            user=config.user,
            password=config.password,
            charset="utf8mb4",
            autocommit=True,
            init_command=_SESSION,
            connect_timeout=config.limits.connect_seconds,
            read_timeout=config.limits.read_seconds,
            write_timeout=config.limits.read_seconds,
            ssl={"ca": config.ssl_ca} if config.ssl_ca else None,
            program_name="lakewarden-capture",
            **more,
        )


def alive(link: Link, config: SourceConfig, **more: Any) -> Link:
    """Return the same connection, or another where the server ended it for being idle."""
    try:
        link.ping()
    except (pymysql.MySQLError, OSError):
        with suppress(pymysql.MySQLError, OSError):
            link.close()
        return connect(config, **more)
    return link


@contextmanager
def translated(config: SourceConfig) -> Iterator[None]:
    """Turn errors of the driver into those of the portal."""
    try:
        yield
    except (pymysql.MySQLError, OSError, EOFError, RuntimeError) as error:
        raise failure(error, config) from error


def failure(error: Exception, config: SourceConfig) -> ExternalFailure:
    """Return what an error of the driver means for a capture, and what to do next."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    words = str(error.args[-1]) if error.args else str(error)
    where = f"{config.host}:{config.port}"
    if number in _ACCESS:
        return _failure(
            "cdc.access",
            f"{where} refuses user {config.user}: {words}. Check the password and the grants.",
        )
    if number == _BINLOG or number in _KILLED:
        return _of_the_log(number, words.lower(), words, config)
    if number in _LOST or not isinstance(error, pymysql.MySQLError) or not number:
        return _failure(
            "cdc.unreachable",
            f"{where} does not answer: {words}. It is tried again by itself.",
            retryable=True,
        )
    return _failure("cdc.source", f"{where} answered with error {number}: {words}.")


def _of_the_log(number: int, lower: str, words: str, config: SourceConfig) -> ExternalFailure:
    if number in _KILLED or "same server" in lower:
        return server_id_taken(config, words)
    if any(one in lower for one in _PURGED):
        return _failure(
            "cdc.purged",
            f"The binary log was removed before it was read: {words}. Raise the epoch of the "
            "source, so that every table is loaded again, and keep logs longer.",
        )
    return _failure("cdc.source", f"The server cannot send its binary log: {words}.")


def server_id_taken(config: SourceConfig, words: str) -> ExternalFailure:
    """Return the error of a connection that the server ended for another with the same id."""
    return _failure(
        "cdc.server_id",
        f"The server ended the connection of server id {config.server_id} ({words}): another "
        "replica or capture has the same id, or an operator ended it. Give the source an id of its "
        "own.",
    )


def _failure(code: str, message: str, *, retryable: bool = False) -> ExternalFailure:
    return ExternalFailure(code, message, service="mysql", retryable=retryable)


def quoted(name: str) -> str:
    """Return a name in backticks."""
    return f"`{name.replace('`', '``')}`"
