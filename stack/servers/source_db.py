"""A MariaDB that is a source of change capture: it logs whole rows with the names of columns."""

from collections.abc import Sequence
from pathlib import Path

import pymysql

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.base import Server
from stack.servers.mariadb import MariaDb

CAPTURE_USER = "capture"
CAPTURE_PASSWORD = "capture"  # noqa: S105  (a throw-away server on loopback)
_SQL = (
    f"create user '{CAPTURE_USER}'@'%' identified by '{CAPTURE_PASSWORD}'",
    "grant replication slave, binlog monitor, replication master admin, select on *.*"
    f" to '{CAPTURE_USER}'@'%'",
)


class SourceDb(MariaDb):
    """A server of its own beside the metastore's, with no database until somebody makes one."""

    name = "source-db"

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        super().__init__(var, ledger=ledger, port=port)
        self.socket = self.socket.with_name(f"{self.socket.stem}-source.sock")

    def command(self) -> Sequence[str]:
        """Return the argv of mariadbd with its binary log on."""
        return [
            *super().command(),
            "--server-id=1",
            "--log-bin=mysql-bin",
            "--binlog-format=ROW",
            "--binlog-row-image=FULL",
            "--binlog-row-metadata=FULL",
            "--max-allowed-packet=128M",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-log-file-size=256M",
        ]

    def wait_ready(self, timeout_seconds: float | None = None) -> None:
        """Wait until it answers; on the first start make the user of the capture."""
        Server.wait_ready(self, timeout_seconds)
        with self.admin() as link, link.cursor() as cursor:
            cursor.execute("select 1 from mysql.user where user = %s", (CAPTURE_USER,))
            if cursor.fetchone() is None:
                for statement in _SQL:
                    cursor.execute(statement)

    def admin(self, database: str | None = None) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        """Return a connection as root, for whoever plays the applications of the source."""
        return pymysql.connect(
            host=LOOPBACK,
            unix_socket=str(self.socket),
            user="root",
            database=database,
            charset="utf8mb4",
            autocommit=True,
            read_timeout=60,
            init_command="set lock_wait_timeout = 20",
        )
