"""Writes and loads dumps of the portal's MariaDB with its own client programs."""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.db import connection

from portal.lake.errors import ExternalFailure

DUMPS, LOADS = "mariadb-dump", "mariadb"
_ROW = re.compile(rb"INSERT INTO `([^`]+)`")
_COUNT = "SELECT COUNT(*) FROM {}"
_DUMP = (
    "--single-transaction",  # one moment of all tables, while the portal works
    "--quick",
    "--hex-blob",
    "--no-tablespaces",
    "--skip-extended-insert",  # a row is a line, so that rows are counted as they are written
    "--no-autocommit",
    "--default-character-set=utf8mb4",
)


def dump_database(target: Path) -> dict[str, int]:
    """Write a compressed dump of one moment; return how many rows of each table it has.

    Raises:
        ExternalFailure: `database.dump`, the program failed; nothing of use is left.
    """
    rows: Counter[str] = Counter()
    with _options_file() as options, gzip.open(_new_file(target), "wb", compresslevel=6) as file:
        command = [client_program(DUMPS), f"--defaults-file={options}", *_DUMP, _name()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            for line in _lines(child.stdout):
                if found := _ROW.match(line):
                    rows[found[1].decode()] += 1
                file.write(line)
            words = child.stderr.read() if child.stderr else b""
    _check(child.returncode, words)
    return dict(rows)


def load_dump(source: Path) -> None:
    """Replace all tables of the database by those of a dump.

    Raises:
        ExternalFailure: `database.dump`, the program failed; the database is not complete.
    """
    drop_tables()
    with _options_file() as options, gzip.open(source, "rb") as file:
        command = [client_program(LOADS), f"--defaults-file={options}", _name()]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            if child.stdin:
                with suppress(BrokenPipeError), child.stdin:  # it says why on its other channel
                    shutil.copyfileobj(file, child.stdin)
            words = child.stderr.read() if child.stderr else b""
    _check(child.returncode, words)
    connection.close()


def drop_tables() -> None:
    """Drop every table of the database."""
    connection.close()  # one on which something failed may be of no use
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        cursor.execute("SET SESSION foreign_key_checks = 0")
        for table in tables:
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(table)}")
        cursor.execute("SET SESSION foreign_key_checks = 1")


def row_counts() -> dict[str, int]:
    """Return how many rows each table has that has any."""
    counts = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(_COUNT.format(connection.ops.quote_name(table)))
            (counts[table],) = cursor.fetchone()
    return {table: n for table, n in counts.items() if n}


def client_program(name: str) -> str:
    """Return where a client program of MariaDB is.

    Raises:
        ExternalFailure: `database.dump`, it is not installed.
    """
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/bin:/usr/local/bin")
    if found is None:
        raise _failure(f"{name} is not installed. On Debian: apt-get install mariadb-client.")
    return found


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _options_file() -> Iterator[Path]:
    """Write how the client programs connect where only this account reads it: argv is public."""
    described = connection.settings_dict
    connection.ensure_connection()
    # The password that the server took, of those that the file has.
    password: Any = connection.connection.password
    tls = described["OPTIONS"].get("ssl", {})
    lines = {
        "user": described["USER"],
        "password": password.decode("latin1"),
        "host": described["HOST"] or "localhost",
        "port": described["PORT"],
        **{f"ssl-{name}": tls[name] for name in ("ca", "cert", "key") if name in tls},
    }
    text = "[client]\n" + "".join(f'{name}="{_quoted(value)}"\n' for name, value in lines.items())
    if tls:
        text += "ssl-verify-server-cert\n"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "client.cnf"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        yield file


def _quoted(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"')


def _new_file(path: Path) -> Path:
    path.touch(mode=0o600, exist_ok=False)
    return path


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _lines(stream: IO[bytes] | None) -> Iterator[bytes]:
    yield from stream or ()


def _check(code: int, words: bytes) -> None:
    if code:
        said: Sequence[str] = words.decode(errors="replace").strip().splitlines()
        raise _failure(f"MariaDB's client program ended with {code}: {' '.join(said)[-500:]}")


def _failure(message: str) -> ExternalFailure:
    return ExternalFailure("database.dump", message, service="portal_db", retryable=False)
