"""Judges a source before anything is captured: what is missing, and the statement that fixes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pipelines.cdc.changes.domain.schemas import TableSchema


class Level(StrEnum):
    """Whether a capture can run with it."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    code: str
    level: Level
    message: str
    remedy: str = ""
    """What to run or to change; empty where nothing is wrong."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server says of itself; names of variables in lower case."""

    version: str
    variables: Mapping[str, str]
    grants: tuple[str, ...]
    server_ids: Mapping[int, str] | None
    """Ids of its replicas with their hosts; None where that may not be read."""

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB."""
        return "mariadb" in self.version.lower()

    def value(self, *names: str) -> str:
        """Return the first of these variables that the server has, in upper case; else empty."""
        return next((self.variables[one] for one in names if one in self.variables), "").upper()


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A matched table; `reason` says why it cannot be captured, empty where it can."""

    db: str
    table: str
    schema: TableSchema | None
    reason: str = ""

    @property
    def name(self) -> str:
        """Database and table, as people write them."""
        return f"{self.db}.{self.table}"


NO_KEY = "it has no primary key, so its rows cannot be told apart"
_REPLICA = ("REPLICATION SLAVE", "REPLICATION REPLICA")
_POSITION = ("BINLOG MONITOR", "REPLICATION CLIENT", "SUPER")
_SHORT_RETENTION_HOURS = 24


def judge(
    facts: ServerFacts, tables: tuple[TableFacts, ...], *, user: str, server_id: int
) -> list[Finding]:
    """Return all findings, in the order in which they should be fixed."""
    return [
        _ok("version", f"The server is {facts.version}."),
        *_privileges(facts, user),
        *_logging(facts),
        _metadata(facts),
        _server_id(facts, server_id),
        _retention(facts),
        *_tables(tables),
    ]


def _ok(code: str, message: str) -> Finding:
    return Finding(code, Level.OK, message)


def _privileges(facts: ServerFacts, user: str) -> list[Finding]:
    held = " | ".join(facts.grants).upper()
    everything = any("ALL PRIVILEGES ON *.*" in one.upper() for one in facts.grants)
    monitor = "BINLOG MONITOR" if facts.is_mariadb else "REPLICATION CLIENT"
    wanted = {
        "REPLICATION SLAVE": everything or any(one in held for one in _REPLICA),
        monitor: everything or any(one in held for one in _POSITION),
    }
    missing = [name for name, has_it in wanted.items() if not has_it]
    if missing:
        grant = f"GRANT {', '.join(missing)} ON *.* TO '{user}'@'...';"
        message = f"User {user} lacks {' and '.join(missing)}."
        return [Finding("privileges", Level.ERROR, message, grant)]
    return [_ok("privileges", f"User {user} may read the binary log.")]


def _logging(facts: ServerFacts) -> list[Finding]:
    if facts.value("log_bin") not in ("ON", "1"):
        return [
            Finding("log_bin", Level.ERROR, "The server writes no binary log.", "log_bin in my.cnf")
        ]
    found = [_ok("log_bin", "The server writes a binary log.")]
    for name, wanted in (("binlog_format", "ROW"), ("binlog_row_image", "FULL")):
        value = facts.value(name) or wanted
        if value == wanted:
            found.append(_ok(name, f"{name} is {wanted}."))
        else:
            remedy = f"SET GLOBAL {name} = '{wanted}'; the same in my.cnf; reconnect every client."
            found.append(Finding(name, Level.ERROR, f"{name} is {value}, not {wanted}.", remedy))
    for name in ("log_bin_compress", "binlog_transaction_compression"):
        if facts.value(name) in ("ON", "1"):
            message = f"{name} is on, so rows have no place of their own in the log."
            found.append(Finding(name, Level.ERROR, message, f"SET GLOBAL {name} = OFF;"))
    if facts.value("binlog_row_value_options"):
        message = "Updates of JSON are logged in parts (binlog_row_value_options)."
        remedy = "SET GLOBAL binlog_row_value_options = '';"
        found.append(Finding("binlog_row_value_options", Level.ERROR, message, remedy))
    return found


def _metadata(facts: ServerFacts) -> Finding:
    value = facts.value("binlog_row_metadata")
    if value == "FULL":
        return _ok("binlog_row_metadata", "The log holds the names of columns.")
    remedy = "SET GLOBAL binlog_row_metadata = 'FULL'; the same in my.cnf."
    if not value:
        remedy = "MariaDB 10.5 and MySQL 8.0 have binlog_row_metadata."
    return Finding(
        "binlog_row_metadata",
        Level.WARNING,
        f"binlog_row_metadata is {value or 'unknown'}, so columns have no names in the log: rows "
        "written before a change of their table cannot be read when the change is met late, and "
        "the capture then stops with cdc.metadata.",
        remedy,
    )


def _server_id(facts: ServerFacts, server_id: int) -> Finding:
    if facts.value("server_id") == str(server_id):
        message = f"{server_id} is the id of the source itself."
        return Finding("server_id", Level.ERROR, message, "Choose another server id.")
    if facts.server_ids is None:
        message = "Which ids the server's replicas have may not be read."
        grant = "GRANT REPLICATION MASTER ADMIN ON *.*" if facts.is_mariadb else "REPLICATION SLAVE"
        remedy = f"{grant}, or be sure that no other has it."
        return Finding("server_id", Level.WARNING, message, remedy)
    if server_id in facts.server_ids:
        message = f"{facts.server_ids[server_id]} has server id {server_id} already."
        return Finding("server_id", Level.ERROR, message, "Choose another server id.")
    return _ok("server_id", f"No other replica has server id {server_id}.")


def _retention(facts: ServerFacts) -> Finding:
    seconds = facts.value("binlog_expire_logs_seconds")
    days = facts.value("expire_logs_days")
    hours = float(seconds or 0) / 3600 or float(days or 0) * 24
    if not hours:
        return _ok("retention", "Binary logs are kept until somebody removes them.")
    message = f"Binary logs are kept for {hours:g} hours."
    if hours >= _SHORT_RETENTION_HOURS:
        return _ok("retention", message)
    remedy = "SET GLOBAL binlog_expire_logs_seconds = 604800;"
    message += " A capture that stops for longer has to load every table again."
    return Finding("retention", Level.WARNING, message, remedy)


def _tables(tables: tuple[TableFacts, ...]) -> list[Finding]:
    if not tables:
        message = "No table matches the patterns, or none may be read."
        return [Finding("tables", Level.ERROR, message, "GRANT SELECT, or other patterns.")]
    good = [one for one in tables if not one.reason]
    found = [_ok("tables", f"{len(good)} of {len(tables)} matching tables can be captured.")]
    return found + [
        Finding(f"table:{one.name}", Level.ERROR, f"{one.name}: {one.reason}", "Leave it out.")
        for one in tables
        if one.reason
    ]
