"""The served demo as a test sees it: addresses, log-ins, mails, and its databases by plain SQL."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from portal.connectors.lake_config import LakeConfig, load_lakes
from stack.demo_days import DAYS_VARIABLE
from stack.lake.clicks import COMMITS_VARIABLE
from stack.ledger import Ledger
from stack.people import DEMO_PASSWORD
from stack.places import BROWSER_VAR, REPO
from stack.process import free_port
from stack.servers.derby import derby_class_path
from stack.servers.smtp import messages

LAKE = "main"
# A first demo is due within twenty minutes; a busy machine gets more. It counts for no test.
_FIRST_DEMO_SECONDS = 2400


@dataclass(frozen=True)
class Demo:
    """A demo that serves at `url` with its files under `var`."""

    url: str
    var: Path
    password: str = DEMO_PASSWORD

    @property
    def config(self) -> LakeConfig:
        """The lake's systems."""
        return load_lakes(self.var / "lakes.json")[LAKE]

    def mails(self, username: str) -> list[EmailMessage]:
        """Return what was really sent to a person, oldest first."""
        return messages(self.var / "mail", to=f"{username}@example.com")

    def portal_rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the portal's own database, read only."""
        address = f"file:{self.var / 'portal.sqlite3'}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=20)) as database:
            return database.execute(sql, values).fetchall()

    def metastore_rows(self, sql: str) -> list[list[str]]:
        """Ask the metastore's own database by Derby's `ij`; `sql` gives one column, split at |."""
        database = self.config.metastore_db
        password = database.password()
        script = (
            f"connect '{database.jdbc_url};user={database.user};password={password}';\n"
            f"maximumdisplaywidth 8000;\n{sql};\n"
        )
        done = subprocess.run(
            ["java", "-Xmx256m", "-cp", derby_class_path(), "org.apache.derby.tools.ij"],
            input=script,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert "ERROR" not in done.stdout, done.stdout[-2000:]
        lines = (line.removeprefix("ij> ").strip() for line in done.stdout.splitlines())
        return [line.split("|") for line in lines if line.count("|") > 1]


@contextmanager
def served() -> Iterator[Demo]:
    """Serve the demo under BROWSER_VAR (made if it is not there), then end it."""
    var = BROWSER_VAR
    ledger = Ledger(var / "stack.json")
    if ledger.running():
        yield Demo(ledger.fact("url"), var)
        return
    environment = _environment(ledger)
    command = [sys.executable, "-m", "stack.cli"]
    subprocess.run(
        [*command, "demo", "--detach"],
        cwd=REPO,
        env=environment,
        check=True,
        timeout=_FIRST_DEMO_SECONDS,
    )
    try:
        yield Demo(Ledger(var / "stack.json").fact("url"), var)
    finally:
        subprocess.run([*command, "stop"], cwd=REPO, env=environment, check=True)


def _environment(ledger: Ledger) -> dict[str, str]:
    """Return what the demo is made, served and ended with.

    Its port stays that of the first time: the links in its mails name it.
    """
    noted = urlsplit(ledger.fact("url") or "").port
    environment = {
        **os.environ,
        "LAKEWARDEN_VAR": str(BROWSER_VAR),
        "PORT": str(noted or free_port()),
        # A few commits show the same pages as many, and then nothing moves under the tests.
        COMMITS_VARIABLE: "2",
        # What is due today was announced a week ago, what was due a week ago the day before; the
        # days between bring the same pages.
        DAYS_VARIABLE: "8,7,1,0",
    }
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    return environment
