"""Make an API token for somebody from a shell, for set-ups that nobody clicks through."""

import os
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.access.scopes import all_scopes
from portal.lake.errors import PortalError
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make_on_host


class Command(BaseCommand):
    """Makes one token; its secret alone goes to standard output, or into a file of mode 0600."""

    help = "Make an API token and print its secret, which is shown only now."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what the page asks for."""
        scopes = "; ".join(f"{scope.name}: {scope.title}" for scope in all_scopes())
        parser.add_argument("--user", required=True, help="as whom the program acts")
        parser.add_argument("--name", required=True, help="which program it is for")
        parser.add_argument("--scope", action="append", required=True, help=scopes or "none yet")
        parser.add_argument("--days", type=int, default=90, help="how long it lives (90)")
        parser.add_argument("--file", type=Path, help="for the secret; nobody else may read it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it; what can be known of it goes to standard error."""
        wish = TokenParams(options["name"], tuple(options["scope"]), options["days"])
        place: Path | None = options["file"]
        with nullcontext(self.stdout) if place is None else _private(place) as out:
            try:
                made = token_make_on_host(options["user"], wish, now=datetime.now(UTC))
            except PortalError as error:
                raise CommandError(f"{error.code}: {error.message}") from error
            out.write(f"{made.secret}\n")
        token = made.token
        self.stderr.write(f"Token {token.public_id} lives until {token.expires_at:%Y-%m-%d} UTC.")


def _private(place: Path) -> TextIO:
    """Open a file that nobody else may read; what it held is gone."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        number = os.open(place, flags, 0o600)
    except OSError as error:
        raise CommandError(f"{place}: {error.strerror}. Name a file that can be made.") from error
    os.fchmod(number, 0o600)
    return os.fdopen(number, "w", encoding="ascii")
