"""A Kubernetes without nodes: etcd and an API server, which keeps pods that nothing ever runs.

Three accounts come with it: an admin, the portal's, and one that may do nothing.
"""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import requests

from stack.errors import StackError
from stack.kubernetes_assets import API_SERVER, ETCD
from stack.ledger import Ledger
from stack.process import LOOPBACK, free_port
from stack.servers.base import Server

ADMIN, PORTAL, STRANGER = "admin", "lakewarden", "stranger"


class Etcd(Server):
    """The database of the API server."""

    name = "etcd"

    def __init__(self, var: Path, *, ledger: Ledger) -> None:
        super().__init__(var, ledger=ledger)
        self.address = f"http://{LOOPBACK}:{self.port}"
        self._peers = f"http://{LOOPBACK}:{free_port()}"

    def command(self) -> Sequence[str]:
        """Return the argv of a single member; a test needs nothing to survive a crash."""
        return [
            str(ETCD),
            f"--data-dir={self.directory / 'data'}",
            f"--listen-client-urls={self.address}",
            f"--advertise-client-urls={self.address}",
            f"--listen-peer-urls={self._peers}",
            "--unsafe-no-fsync",
        ]


class ApiServer(Server):
    """The API server, with rights by role and an account a token file."""

    name = "kube-apiserver"
    ready_seconds = 90.0

    def __init__(self, var: Path, *, ledger: Ledger, etcd: str) -> None:
        super().__init__(var, ledger=ledger)
        self.address = f"https://{LOOPBACK}:{self.port}"
        self._etcd = etcd

    @property
    def certificate(self) -> Path:
        """The file with its certificate, which it makes at its first start."""
        return self.directory / "apiserver.crt"

    def token_file(self, account: str) -> Path:
        """Return the file with the token of an account."""
        return self.directory / f"{account}.token"

    def prepare(self) -> None:
        """Make the tokens and the key of service accounts."""
        super().prepare()
        rows = []
        for account in (ADMIN, PORTAL, STRANGER):
            token = secrets.token_hex(16)
            _write(self.token_file(account), token)
            group = ',"system:masters"' if account == ADMIN else ""
            rows.append(f"{token},{account},{account}{group}\n")
        _write(self.directory / "tokens.csv", "".join(rows))

    def command(self) -> Sequence[str]:
        """Return the argv of the server, which signs by its own certificate's key."""
        key = self.directory / "apiserver.key"
        return [
            str(API_SERVER),
            f"--etcd-servers={self._etcd}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            f"--secure-port={self.port}",
            f"--cert-dir={self.directory}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--token-auth-file={self.directory / 'tokens.csv'}",
            "--authorization-mode=RBAC",
        ]

    def environment(self) -> Mapping[str, str]:
        """Return an environment without a proxy."""
        return {**super().environment(), "NO_PROXY": LOOPBACK}

    def is_ready(self) -> bool:
        """Whether it has begun and serves."""
        try:
            return self.ask("GET", "/readyz").ok
        except (requests.RequestException, OSError):
            return False

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> requests.Response:
        """Send one request as the admin."""
        token = self.token_file(ADMIN).read_text(encoding="utf-8")
        return requests.request(
            method,
            f"{self.address}{path}",
            headers={"Authorization": f"Bearer {token}"},
            json=body,
            verify=str(self.certificate),
            timeout=20,
        )

    def make(self, path: str, made: Mapping[str, Any]) -> None:
        """Make an object; one of that name that is there already stays.

        Raises:
            StackError: the server refuses it.
        """
        answer = self.ask("POST", path, made)
        if not answer.ok and answer.status_code != requests.codes.conflict:
            raise StackError(f"{path}: HTTP {answer.status_code} {answer.text[:500]}")


class Kubernetes:
    """Both, over one directory."""

    def __init__(self, var: Path, *, ledger: Ledger) -> None:
        self.etcd = Etcd(var, ledger=ledger)
        self.api = ApiServer(var, ledger=ledger, etcd=self.etcd.address)

    def start(self) -> None:
        """Start both and wait for them."""
        self.etcd.start()
        self.etcd.wait_ready()
        self.api.start()
        self.api.wait_ready()

    def stop(self) -> None:
        """End both."""
        self.api.stop()
        self.etcd.stop()


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
