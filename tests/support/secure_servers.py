"""MariaDB that speaks TLS alone, and Redis behind an end of TLS, each with accounts of its own."""

import shutil
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pymysql

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.base import Server
from stack.servers.mariadb import COLLATION, MariaDb
from stack.servers.redis import Redis
from tests.support.certificates import Pair

USER, PASSWORD, CERTIFIED = "portal", "first-password", "portal_certified"
_SQL = f"""
create database portal character set utf8mb4 collate {COLLATION};
create user '{USER}'@'%' identified by '{PASSWORD}';
create user '{CERTIFIED}'@'%' identified by '{PASSWORD}' require x509;
grant all on *.* to '{USER}'@'%';
grant all on *.* to '{CERTIFIED}'@'%'
"""


class SecureMariaDb(MariaDb):
    """A MariaDB with the portal's database alone; without a certificate it speaks no TLS."""

    def __init__(self, var: Path, *, ledger: Ledger, authority: Path) -> None:
        super().__init__(var, ledger=ledger)
        self._authority, self.speaks_tls = authority, True

    def present(self, pair: Pair) -> None:
        """Take another certificate, at once where the server runs."""
        self.directory.mkdir(parents=True, exist_ok=True)
        shutil.copy(pair.certificate, self.directory / "server.crt")
        shutil.copy(pair.key, self.directory / "server.key")
        if self.process.is_alive():
            self.root("flush ssl")

    def command(self) -> Sequence[str]:
        """Return the argv of mariadbd, with TLS or without; it need not outlive a power cut."""
        argv = [*super().command(), "--innodb-flush-method=nosync"]
        if not self.speaks_tls:
            return [*argv, "--skip-ssl"]
        return [
            *argv,
            f"--ssl-ca={self._authority}",
            f"--ssl-cert={self.directory / 'server.crt'}",
            f"--ssl-key={self.directory / 'server.key'}",
            "--require-secure-transport=ON",
        ]

    def wait_ready(self, timeout_seconds: float | None = None) -> None:
        """Wait until it answers; on the first start make the database and its accounts."""
        Server.wait_ready(self, timeout_seconds)
        if not self.root("show databases like 'portal'"):
            for statement in filter(None, map(str.strip, _SQL.split(";"))):
                self.root(statement)

    def root(self, statement: str) -> int:
        """Run a statement as root; return how many rows it has."""
        with (
            pymysql.connect(unix_socket=str(self.socket), user="root", autocommit=True) as link,
            link.cursor() as cursor,
        ):
            return cursor.execute(statement)


class AclRedis(Redis):
    """Redis with a user of an access list, whose passwords tests change."""

    def _configuration(self) -> Path:
        file = super()._configuration()
        with file.open("a", encoding="utf-8") as more:
            more.write(f"user {USER} on >{PASSWORD} ~* &* +@all\n")
        return file


class TlsEnd:
    """Ends TLS before a server on loopback, as a proxy does; Redis of the tests has none."""

    def __init__(self, port: int, pair: Pair, *, authority: Path | None = None) -> None:
        self._target = port
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(pair.certificate, pair.key)
        if authority is not None:
            self._context.load_verify_locations(authority)
            self._context.verify_mode = ssl.CERT_REQUIRED
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> "TlsEnd":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            outer = self._context.wrap_socket(client, server_side=True)
            with outer, socket.create_connection((LOOPBACK, self._target)) as inner:
                threading.Thread(target=_copy, args=(inner, outer), daemon=True).start()
                _copy(outer, inner)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
