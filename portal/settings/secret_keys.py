"""Reads the key that signs links and counters, and the former keys that are still accepted."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from portal.lake.lines import secret_lines


def read_secret_keys(path: Path, *, create: bool) -> list[str]:
    """Return the keys of a 0600 file: the first line signs, the others are still accepted.

    Development makes the file when it is absent.

    Raises:
        ImproperlyConfigured: the file cannot be read, or has no key.
    """
    if not path.exists() and create:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(os.urandom(48).hex())
    try:
        keys = secret_lines(path.read_text(encoding="ascii"))
    except OSError as error:
        raise ImproperlyConfigured(
            f"The file {path} of LAKEWARDEN_SECRET_KEY_FILE cannot be read ({error.strerror}). "
            "Make it as docs/deploy.md says, readable by the account of this process."
        ) from error
    if not keys:
        raise ImproperlyConfigured(f"The file {path} of LAKEWARDEN_SECRET_KEY_FILE has no key.")
    return keys
