"""A real OpenID Connect provider: Django OAuth Toolkit as a site of its own, in its own process."""

import json
import secrets
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.base import Server

CLIENT_ID = "lakewarden"


class OidcProvider(Server):
    """The provider; its people and their groups are given at the start and changed by `put`."""

    name = "oidc"
    ready_seconds = 60.0

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        people: Mapping[str, Sequence[str]],
        password: str,
        portal: str,
    ) -> None:
        super().__init__(var, ledger=ledger)
        self._seed = {
            "port": self.port,
            "people": {name: list(groups) for name, groups in people.items()},
            "password": password,
            "client_id": CLIENT_ID,
            "client_secret": secrets.token_urlsafe(32),
            "redirect_uri": f"{portal}/login/sso/back/",
            "signed_out_uri": f"{portal}/login/",
        }

    @property
    def issuer(self) -> str:
        """What the provider calls itself."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def secret_file(self) -> Path:
        """The file of the client's secret, as sign_in.json names it."""
        return self.directory / "client.secret"

    def prepare(self) -> None:
        """Write what the site starts from."""
        super().prepare()
        self.secret_file.touch(mode=0o600)
        self.secret_file.write_text(str(self._seed["client_secret"]), encoding="utf-8")
        (self.directory / "seed.json").write_text(json.dumps(self._seed), encoding="utf-8")

    def command(self) -> Sequence[str]:
        """Return the argv of the site."""
        return [sys.executable, "-m", "stack.servers.oidc_site", str(self.directory)]

    def environment(self) -> dict[str, str]:
        """Let the module be found from any working directory."""
        root = str(Path(__file__).resolve().parents[2])
        return {**self.ledger.environment(), "PYTHONPATH": root}

    def put(self, username: str, groups: Sequence[str]) -> None:
        """Put a person into exactly these groups, from the next token on."""
        with closing(sqlite3.connect(self.directory / "site.sqlite3", timeout=20)) as base, base:
            (user,) = base.execute("SELECT id FROM auth_user WHERE username = ?", (username,))
            base.execute("DELETE FROM auth_user_groups WHERE user_id = ?", user)
            for name in groups:
                base.execute("INSERT OR IGNORE INTO auth_group (name) VALUES (?)", (name,))
                (group,) = base.execute("SELECT id FROM auth_group WHERE name = ?", (name,))
                base.execute(
                    "INSERT INTO auth_user_groups (user_id, group_id) VALUES (?, ?)",
                    (*user, *group),
                )
