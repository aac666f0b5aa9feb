"""Checks of the settings of servers: files that they name, TLS between hosts, and Redis' answer."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from redis.exceptions import RedisError

from portal.lake.errors import PortalError
from portal.servers.redis import broker_problem, redis_client, redis_server

_TIMEOUT_SECONDS = 5.0
_LOOPBACK = frozenset({"", "localhost", "127.0.0.1", "::1"})


def register_server_checks() -> None:
    """Register the checks; twice is harmless."""
    register(files_check)
    register(encryption_check, Tags.security, deploy=True)
    register(broker_check, Tags.database)


def files_check(**_: Any) -> list[CheckMessage]:
    """Say which files that the settings name this process cannot read."""
    return [
        Error(
            f"The file {file} that {setting} names cannot be read by this process.",
            hint="Correct the name, or let the account of this process read it.",
            id="portal.E010",
        )
        for setting, file in _named_files()
        if not (Path(file).is_file() and os.access(file, os.R_OK))
    ]


def encryption_check(**_: Any) -> list[CheckMessage]:
    """Warn of passwords that go to another host without TLS."""
    database = settings.DATABASES["default"]
    host = str(database.get("HOST", ""))
    broker = urlsplit(settings.LAKEWARDEN_REDIS_URL)
    found: list[CheckMessage] = []
    if not _is_here(host) and "ssl" not in database.get("OPTIONS", {}):
        found.append(_unencrypted(f"MariaDB at {host}", "Name its authority in LAKEWARDEN_DB_CA."))
    if broker.scheme == "redis" and not _is_here(broker.hostname or ""):
        step = "Use rediss:// in LAKEWARDEN_REDIS_URL."
        found.append(_unencrypted(f"Redis at {broker.hostname}", step))
    return found


def broker_check(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Ask Redis, where a command names databases; a warning, as migrations do not need it."""
    if not databases:
        return []
    client = redis_client(timeout_seconds=_TIMEOUT_SECONDS)
    try:
        client.ping()
    except PortalError as error:
        return [Warning(error.message, id="portal.W010")]
    except (RedisError, OSError) as error:
        problem = broker_problem(error)
        words = problem.of(redis_server()) if problem else f"{redis_server()}: {error}"
        hint = "Runs wait until it answers. Correct LAKEWARDEN_REDIS_*, or start it."
        return [Warning(words, hint=hint, id="portal.W010")]
    finally:
        client.close()
    return []


def _named_files() -> Iterator[tuple[str, str]]:
    options = settings.DATABASES["default"].get("OPTIONS", {})
    tls = options.get("ssl", {})
    named = {
        "LAKEWARDEN_DB_PASSWORD_FILE": options.get("password_file"),
        "LAKEWARDEN_DB_CA": tls.get("ca"),
        "LAKEWARDEN_DB_CERT": tls.get("cert"),
        "LAKEWARDEN_DB_KEY": tls.get("key"),
        "LAKEWARDEN_REDIS_PASSWORD_FILE": settings.LAKEWARDEN_REDIS_PASSWORD_FILE,
        "LAKEWARDEN_REDIS_CA": settings.LAKEWARDEN_REDIS_CA,
        "LAKEWARDEN_REDIS_CERT": settings.LAKEWARDEN_REDIS_CERT,
        "LAKEWARDEN_REDIS_KEY": settings.LAKEWARDEN_REDIS_KEY,
        "LAKEWARDEN_SMTP_PASSWORD_FILE": settings.LAKEWARDEN_SMTP_PASSWORD_FILE,
        "LAKEWARDEN_CALLBACK_SECRET_FILE": settings.LAKEWARDEN_CALLBACK_SECRET_FILE,
        "LAKEWARDEN_WEBHOOK_URL_FILE": settings.LAKEWARDEN_WEBHOOK_URL_FILE,
        "LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE": settings.LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE,
    }
    for setting, file in named.items():
        if file:
            yield setting, str(file)


def _is_here(host: str) -> bool:
    return host in _LOOPBACK or host.startswith("/")


def _unencrypted(server: str, step: str) -> CheckMessage:
    return Warning(f"{server} gets passwords without TLS.", hint=step, id="portal.W011")
