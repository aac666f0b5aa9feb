"""Turns LAKEWARDEN_DB_* into Django's description of the portal's database."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TLS_FILES = {"ca": "LAKEWARDEN_DB_CA", "cert": "LAKEWARDEN_DB_CERT", "key": "LAKEWARDEN_DB_KEY"}

ANSWER_LIMITS = ("read_timeout", "write_timeout")
"""The driver's options that say how long it waits for the server."""


def database_from_url(
    url: str, *, var: Path, environment: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """Turn LAKEWARDEN_DB_URL into Django's form; empty means SQLite below LAKEWARDEN_VAR."""
    if not url:
        return sqlite_database(var / "portal.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return sqlite_database(Path(unquote(parts.path)))
    return {
        "ENGINE": "portal.servers.mysql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or 3306),
        "CONN_MAX_AGE": int(environment.get("LAKEWARDEN_DB_KEEP_SECONDS", "60")),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "charset": "utf8mb4",
            # A conditional UPDATE must see what others committed, not the snapshot it began with.
            "isolation_level": "read committed",
            "init_command": "SET sql_mode='STRICT_TRANS_TABLES', innodb_lock_wait_timeout=20",
            "connect_timeout": int(environment.get("LAKEWARDEN_DB_CONNECT_SECONDS", "10")),
            **_answer_limits(environment),
            **_tls(environment),
            **_password_file(environment),
        },
        "TEST": {"CHARSET": "utf8mb4", "COLLATION": "utf8mb4_nopad_bin"},
    }


def _answer_limits(environment: Mapping[str, str]) -> dict[str, int]:
    """Return how long a server may be silent: without it a frozen one holds its callers for hours.

    0 waits for as long as the server takes.
    """
    seconds = int(environment.get("LAKEWARDEN_DB_ANSWER_SECONDS", "120"))
    return dict.fromkeys(ANSWER_LIMITS, seconds) if seconds > 0 else {}


def _tls(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the driver's TLS options; where an authority is named, TLS is required and verified.

    Raises:
        ImproperlyConfigured: a certificate without its key or an authority, or the reverse.
    """
    files = {name: environment.get(setting, "") for name, setting in _TLS_FILES.items()}
    if not any(files.values()):
        return {}
    if not files["ca"] or bool(files["cert"]) != bool(files["key"]):
        raise ImproperlyConfigured(
            "TLS to the database needs LAKEWARDEN_DB_CA, and LAKEWARDEN_DB_CERT and "
            "LAKEWARDEN_DB_KEY both or neither."
        )
    named = {name: file for name, file in files.items() if file}
    return {"ssl": {**named, "check_hostname": True, "verify_mode": "required"}}


def _password_file(environment: Mapping[str, str]) -> dict[str, str]:
    file = environment.get("LAKEWARDEN_DB_PASSWORD_FILE", "")
    return {"password_file": file} if file else {}


def sqlite_database(path: Path) -> dict[str, Any]:
    """Return the embedded database: WAL, every transaction takes the write lock at its start.

    Sessions and password hashes stand in its file, so it is for its own account alone; SQLite
    gives the files beside it the same mode.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    if path.stat().st_mode & 0o077 and path.stat().st_uid == os.geteuid():
        path.chmod(0o600)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }
