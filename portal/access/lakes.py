"""Reads the governed lakes from lakes.json, again whenever the file changes."""

from argparse import ArgumentTypeError
from pathlib import Path
from threading import Lock

from django.conf import settings

from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.connectors.metastore_db import PASSWORD_VARIABLE
from portal.lake.errors import NotVisible, PortalError, RuleViolation

_lock = Lock()
_read: dict[Path, tuple[int, dict[str, LakeConfig]]] = {}


def all_lakes() -> dict[str, LakeConfig]:
    """Return every governed lake by name; empty while no lakes file exists."""
    path = Path(settings.LAKEWARDEN_LAKES)
    try:
        stamp = path.stat().st_mtime_ns
    except FileNotFoundError:
        return {}
    with _lock:
        known = _read.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, load_lakes(path))
            _read[path] = known
    return known[1]


def several_lakes() -> bool:
    """Whether whatever speaks of a lake has to name it."""
    return len(all_lakes()) > 1


def only_lake() -> str:
    """Return the one lake that is governed, for callers that name none.

    Raises:
        NotVisible: `lake.none`: none is governed yet.
        RuleViolation: `lake.unnamed`: several are; the first of them may not be meant.
    """
    names = sorted(all_lakes())
    if not names:
        raise NotVisible("lake.none", "No lake is set up yet. Tell an operator.")
    if len(names) > 1:
        raise RuleViolation(
            "lake.unnamed",
            f"Several lakes are governed here ({', '.join(names)}). Say which one is meant.",
        )
    return names[0]


def lake_word(text: str) -> str:
    """Return the lake of a command's argument; the only one where the argument is empty.

    Raises:
        ArgumentTypeError: none is named, and there is none or more than one.
    """
    try:
        return text or only_lake()
    except PortalError as error:
        raise ArgumentTypeError(error.message) from error


def get_lake(lake: str) -> LakeConfig:
    """Return one lake's configuration.

    Raises:
        NotVisible: no lake of that name is governed.
    """
    try:
        return all_lakes()[lake]
    except KeyError:
        raise NotVisible("lake.unknown", f"No lake '{lake}' is governed here.", lake=lake) from None


def job_environment(lake: str) -> dict[str, str]:
    """Return the environment of a job that reads the metastore's own database."""
    return {PASSWORD_VARIABLE: get_lake(lake).metastore_db.password()}
