"""Tests files of secrets: which line counts, and what is said of a file that is of no use."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.signing import BadSignature, Signer
from pytest_django import Settings

from portal.lake.errors import ExternalFailure
from portal.servers.secret_files import read_secret, read_secrets, secret_or_file
from portal.settings.secret_keys import read_secret_keys


def test_the_first_line_is_the_secret_and_others_are_former_ones(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("new one\n\n  old one \n", encoding="utf-8")
    assert read_secrets(str(file), setting="S") == ["new one", "old one"]
    assert read_secret(str(file), setting="S") == "new one"


def test_a_file_is_read_each_time_and_counts_before_the_setting_itself(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    assert secret_or_file("written", "", setting="S") == "written"
    for secret in ("first", "second"):
        file.write_text(secret, encoding="utf-8")
        assert secret_or_file("written", str(file), setting="S") == secret


@pytest.mark.parametrize("content", [None, b"", b" \n \n", b"\xff\xfe"])
def test_a_file_without_a_secret_is_named_with_its_setting(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ExternalFailure, match=f"{file} that LAKEWARDEN_X_FILE names") as caught:
        read_secret(str(file), setting="LAKEWARDEN_X_FILE")
    assert caught.value.retryable


def test_what_a_former_key_signed_is_still_accepted_until_its_line_is_gone(
    tmp_path: Path, settings: Settings
) -> None:
    file = tmp_path / "secret_key"
    (first,) = read_secret_keys(file, create=True)
    assert file.stat().st_mode & 0o777 == 0o600
    link = Signer(key=first).sign("stop these mails")
    file.write_text(f"{'n' * 60}\n{first}\n", encoding="ascii")
    key, *fallbacks = read_secret_keys(file, create=False)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = key, fallbacks
    assert Signer().unsign(link) == "stop these mails"
    assert Signer().sign("x") != Signer(key=first).sign("x")
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(BadSignature):
        Signer().unsign(link)


def test_a_key_file_that_is_missing_or_empty_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="LAKEWARDEN_SECRET_KEY_FILE cannot be read"):
        read_secret_keys(tmp_path / "absent", create=False)
    (tmp_path / "empty").write_text("\n", encoding="ascii")
    with pytest.raises(ImproperlyConfigured, match="has no key"):
        read_secret_keys(tmp_path / "empty", create=False)
