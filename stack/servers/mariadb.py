"""MariaDB from Debian's binaries, with a data folder of its own and no system service."""

import getpass
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pymysql

from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import JARS
from stack.process import LOOPBACK
from stack.servers.base import Server

USER = "hive"
PASSWORD = "hive"  # noqa: S105  (a throw-away server on loopback)
METASTORE = "metastore"
PORTAL = "portal"
# Names that differ by case, accent or a space at the end are two (portal/collation.py).
COLLATION = "utf8mb4_nopad_bin"
DRIVER = "org.mariadb.jdbc.Driver"
_SCHEMA = JARS / "metastore" / "hms" / "scripts" / "metastore" / "upgrade" / "mysql"
_SQL = f"""
create database {METASTORE} character set latin1;
create database {PORTAL} character set utf8mb4 collate {COLLATION};
create user '{USER}'@'localhost' identified by '{PASSWORD}';
create user '{USER}'@'%' identified by '{PASSWORD}';
grant all on *.* to '{USER}'@'localhost';
grant all on *.* to '{USER}'@'%';
"""


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise StackError(f"{name} is not installed; run: apt-get install mariadb-server")
    return found


# Hive's own schema lacks it, and each look for new events reads the whole log (docs/operations.md).
_EVENT_INDEX = "\nCREATE INDEX NOTIFICATION_LOG_EVENT_ID ON NOTIFICATION_LOG (EVENT_ID);\n"


class MariaDb(Server):
    """A MariaDB server that holds the metastore's and the portal's databases."""

    name = "mariadb"

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        super().__init__(var, ledger=ledger, port=port)
        # A socket's path has at most 107 characters, so it cannot lie deep under var.
        self.socket = Path("/tmp") / f"lw-{ledger.mark[:12]}.sock"  # noqa: S108  (named by a uuid)
        self.jdbc_url = f"jdbc:mysql://{LOOPBACK}:{self.port}/{METASTORE}?permitMysqlScheme&useMysqlMetadata=true"

    @property
    def portal_url(self) -> str:
        """The portal's database as LAKEWARDEN_DB_URL wants it."""
        return f"mysql://{USER}:{PASSWORD}@{LOOPBACK}:{self.port}/{PORTAL}"

    def prepare(self) -> None:
        """Make the data folder on the first start."""
        super().prepare()
        data = self.directory / "data"
        if (data / "mysql").is_dir():
            return
        self._run(
            [
                *(_program("mariadb-install-db"), "--no-defaults", "--skip-test-db"),
                "--auth-root-authentication-method=normal",
                *(f"--user={getpass.getuser()}", f"--datadir={data}"),
            ]
        )

    def command(self) -> Sequence[str]:
        """Return the argv of mariadbd."""
        return [
            _program("mariadbd"),
            "--no-defaults",
            f"--user={getpass.getuser()}",
            f"--datadir={self.directory / 'data'}",
            f"--port={self.port}",
            f"--bind-address={LOOPBACK}",
            f"--socket={self.socket}",
            "--max-connections=300",
        ]

    def wait_ready(self, timeout_seconds: float | None = None) -> None:
        """Wait until it answers; on the first start make the databases and the schema."""
        super().wait_ready(timeout_seconds)
        with pymysql.connect(unix_socket=str(self.socket), user="root") as link:
            cursor = link.cursor()
            cursor.execute("show databases like %s", (METASTORE,))
            if cursor.fetchone():
                return
            for statement in filter(None, map(str.strip, _SQL.split(";"))):
                cursor.execute(statement)
        script = (_SCHEMA / "hive-schema-3.1.0.mysql.sql").read_text(encoding="utf-8")
        script += _EVENT_INDEX
        self._run(
            [
                *(_program("mariadb"), "--no-defaults", f"--socket={self.socket}"),
                *("--user=root", METASTORE),
            ],
            cwd=_SCHEMA,
            text=script,
        )

    def add_reader(self, name: str, password: str) -> None:
        """Make an account that may read the metastore's database, and nothing else."""
        with pymysql.connect(unix_socket=str(self.socket), user="root") as link:
            cursor = link.cursor()
            for host in ("localhost", "%"):
                cursor.execute("create user %s@%s identified by %s", (name, host, password))
                cursor.execute(f"grant select on {METASTORE}.* to %s@%s", (name, host))

    def connect(self, database: str = METASTORE) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        """Return a connection as the metastore's user, for tests that recount."""
        return pymysql.connect(
            host=LOOPBACK,
            port=self.port,
            user=USER,
            password=PASSWORD,
            database=database,
            autocommit=True,
        )

    def stop(self) -> None:
        """End the server and remove its socket."""
        super().stop()
        self.socket.unlink(missing_ok=True)

    @staticmethod
    def _run(argv: Sequence[str], *, cwd: Path | None = None, text: str | None = None) -> None:
        done = subprocess.run(
            argv,
            check=False,
            cwd=cwd,
            input=text,
            capture_output=True,
            text=True,
            timeout=180,
        )
        if done.returncode != 0:
            raise StackError(f"{argv[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}")
