"""What every command has: the portal that it speaks to, and how answers are printed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lakewarden_cli.errors import SignInError
from lakewarden_cli.output import print_json
from lakewarden_cli.portal import Portal
from lakewarden_cli.sessions import Session, read_session


@dataclass(slots=True)
class Context:
    """The options that stand before the command."""

    url: str = ""
    token_file: Path | None = None
    lake: str = ""
    is_json: bool = False
    allow_http: bool = False

    def portal(self) -> Portal:
        """Return the portal of this call; another address than the kept one has no session."""
        kept = read_session()
        url = (self.url or kept.url).rstrip("/")
        session = kept if url == kept.url else Session(url)
        return Portal(session, token=self._secret(), allow_http=self.allow_http)

    def print_answer(self, answer: Any) -> bool:
        """Print the answer as JSON where that was asked for; say whether it was."""
        if self.is_json:
            print_json(answer)
        return self.is_json

    def _secret(self) -> str:
        if self.token_file is None:
            return ""
        try:
            return self.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SignInError(
                f"The token file {self.token_file} cannot be read: {error}."
            ) from error


pass_context = click.make_pass_decorator(Context)


def table_name(text: str) -> tuple[str, str]:
    """Return the database and the table of `db.table`.

    Raises:
        click.BadParameter: it is no name of a table.
    """
    db, dot, table = text.partition(".")
    if not (db and dot and table):
        raise click.BadParameter(f"'{text}' is no table; write db.table.")
    return db, table
