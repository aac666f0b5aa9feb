"""Reads secrets from the files that settings name at each use."""

from pathlib import Path

from portal.lake.errors import ExternalFailure
from portal.lake.lines import secret_lines


def read_secrets(file: str, *, setting: str) -> list[str]:
    """Return the lines of a secret file that are not empty: the new secret first, then older ones.

    Raises:
        ExternalFailure: `config.secret_file`, it cannot be read or is empty.
    """
    try:
        found = secret_lines(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise _unusable(file, setting, f"cannot be read ({reason})") from error
    if not found:
        raise _unusable(file, setting, "is empty")
    return found


def read_secret(file: str, *, setting: str) -> str:
    """Return the first line of a secret file; other lines are for what accepts older secrets.

    Raises:
        ExternalFailure: `config.secret_file`, it cannot be read or is empty.
    """
    return read_secrets(file, setting=setting)[0]


def secret_or_file(value: str, file: str, *, setting: str) -> str:
    """Return the secret of a file where a setting names one, else the value of the setting.

    Raises:
        ExternalFailure: `config.secret_file`, the file cannot be read or is empty.
    """
    return read_secret(file, setting=setting) if file else value


def _unusable(file: str, setting: str, what: str) -> ExternalFailure:
    return ExternalFailure(
        "config.secret_file",
        f"The file {file} that {setting} names {what}. Write the secret into it, and let the "
        "account of this process read it.",
        service="config",
        retryable=True,
    )
