"""Tests that the password of the mail server is read from its file at each connection."""

import smtplib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import AuthResult, LoginPassword
from pytest_django import Settings

from portal.lake.errors import ExternalFailure
from portal.servers.mail import PasswordFileBackend
from stack.process import LOOPBACK, free_port


@pytest.fixture
def accepted() -> set[bytes]:
    return {b"first"}


@pytest.fixture
def port(accepted: set[bytes]) -> Iterator[int]:
    """A mail server that takes the accepted passwords."""

    def ask(*words: Any) -> AuthResult:
        login: LoginPassword = words[-1]
        is_right = login.password in accepted
        return AuthResult(success=is_right, handled=is_right)

    server = Controller(
        Sink(),
        hostname=LOOPBACK,
        port=free_port(),
        authenticator=ask,
        auth_require_tls=False,
    )
    server.start()
    yield server.port
    server.stop()


def test_a_changed_password_counts_for_the_next_mail(
    port: int, accepted: set[bytes], tmp_path: Path, settings: Settings
) -> None:
    file = tmp_path / "password"
    settings.LAKEWARDEN_SMTP_PASSWORD_FILE = str(file)
    with pytest.raises(ExternalFailure, match="LAKEWARDEN_SMTP_PASSWORD_FILE"):
        _open(port)
    for password in (b"first", b"second"):
        accepted |= {password}
        file.write_bytes(password)
        assert _open(port)
        accepted.discard(password)
    with pytest.raises(smtplib.SMTPAuthenticationError):
        _open(port)


def _open(port: int) -> bool:
    backend = PasswordFileBackend(host=LOOPBACK, port=port, username="portal", password="stale")
    try:
        return bool(backend.open())
    finally:
        backend.close()
