"""Connects to Redis with the password file, TLS and authority that the settings name."""

from typing import Any
from urllib.parse import unquote, urlsplit

import redis
from django.conf import settings
from kombu import Connection
from redis.credentials import CredentialProvider
from redis.exceptions import TimeoutError

from portal.servers.secret_files import read_secret
from portal.servers.tls_errors import TlsProblem, tls_problem

_SETTING = "LAKEWARDEN_REDIS_PASSWORD_FILE"


class PasswordFile(CredentialProvider):
    """Reads the password at each new connection; the user is that of the address."""

    def __init__(self, user: str, file: str) -> None:
        self._user, self._file = user, file

    def get_credentials(self) -> tuple[str] | tuple[str, str]:
        """Return the user, if the address has one, and the password."""
        password = read_secret(self._file, setting=_SETTING)
        return (self._user, password) if self._user else (password,)


class BrokerConnection(Connection):
    """Celery's connection to the broker, with the password of the file."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("credential_provider", _provider())
        super().__init__(*args, **options)


def redis_client(*, timeout_seconds: float) -> redis.Redis:
    """Return a client of the broker; it connects when it is first used."""
    url = settings.LAKEWARDEN_REDIS_URL.replace("redis+socket://", "unix://")
    options = tls_options()
    if (provider := _provider()) is not None:
        options["credential_provider"] = provider
        url = _without_user(url)
    return redis.Redis.from_url(
        url, socket_timeout=timeout_seconds, socket_connect_timeout=timeout_seconds, **options
    )


def tls_options() -> dict[str, Any]:
    """Return the arguments of a client for rediss:// addresses; empty without TLS.

    The server's certificate and name are always verified: by the authorities of the system where
    the settings name none.
    """
    if not settings.LAKEWARDEN_REDIS_URL.startswith("rediss://"):
        return {}
    named = {
        "ssl_ca_certs": settings.LAKEWARDEN_REDIS_CA,
        "ssl_certfile": settings.LAKEWARDEN_REDIS_CERT,
        "ssl_keyfile": settings.LAKEWARDEN_REDIS_KEY,
    }
    found: dict[str, Any] = {name: file for name, file in named.items() if file}
    return {**found, "ssl_cert_reqs": "required", "ssl_check_hostname": True}


def broker_problem(error: BaseException) -> TlsProblem | None:
    """Return what an error of a client says of TLS; None where TLS is not the cause."""
    found = tls_problem(error, prefix="LAKEWARDEN_REDIS")
    if found is None and isinstance(error, TimeoutError) and tls_options():
        # A Redis without TLS waits for the end of what it takes for a command.
        return TlsProblem(
            "it did not answer the TLS handshake in time; it may speak no TLS at this port.",
            "Turn TLS on at the server, or correct the port in LAKEWARDEN_REDIS_URL.",
        )
    return found


def redis_server() -> str:
    """Return the address of the broker for messages, without user and password."""
    parts = urlsplit(settings.LAKEWARDEN_REDIS_URL)
    return f"Redis at {parts.hostname or parts.path}:{parts.port or 6379}"


def _provider() -> PasswordFile | None:
    file = settings.LAKEWARDEN_REDIS_PASSWORD_FILE
    if not file:
        return None
    return PasswordFile(unquote(urlsplit(settings.LAKEWARDEN_REDIS_URL).username or ""), file)


def _without_user(url: str) -> str:
    """The client refuses a user in the address beside a source of user and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
