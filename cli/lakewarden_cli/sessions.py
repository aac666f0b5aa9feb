"""Keeps the portal's address and the session of the last log-in, readable by their owner alone."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from lakewarden_cli.errors import CliError

FOLDER_VARIABLE = "LAKEWARDEN_CONFIG_DIR"


@dataclass(slots=True)
class Session:
    """A portal, who is signed in there, and the cookies of that log-in."""

    url: str = ""
    username: str = ""
    cookies: dict[str, str] = field(default_factory=dict)


def session_file() -> Path:
    """Return where the session is kept; a variable moves it."""
    folder = os.environ.get(FOLDER_VARIABLE) or click.get_app_dir("lakewarden")
    return Path(folder) / "session.json"


def read_session() -> Session:
    """Return the kept session, an empty one where there is none.

    Raises:
        CliError: the file is damaged.
    """
    path = session_file()
    try:
        return Session(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Session()
    except (ValueError, TypeError) as error:
        raise CliError(
            f"{path} cannot be read: {error}.", next_step="Delete it, then run `lakewarden login`."
        ) from error


def write_session(session: Session) -> None:
    """Replace the kept session; a write that is cut off leaves the one of before."""
    path = session_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)  # created with mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(session), file)
    Path(temporary).replace(path)
