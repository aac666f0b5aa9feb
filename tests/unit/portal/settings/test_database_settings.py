"""Tests what LAKEWARDEN_DB_* make of the database's description."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from portal.settings.databases import database_from_url

URL = "mysql://portal:a%2Fb@db.example.com:3307/portal"


def test_tls_is_required_and_verified_where_an_authority_is_named(tmp_path: Path) -> None:
    plain = database_from_url(URL, var=tmp_path, environment={})
    assert (plain["HOST"], plain["PORT"], plain["PASSWORD"]) == ("db.example.com", "3307", "a/b")
    assert "ssl" not in plain["OPTIONS"]
    files = {"LAKEWARDEN_DB_CA": "ca", "LAKEWARDEN_DB_CERT": "crt", "LAKEWARDEN_DB_KEY": "key"}
    options = database_from_url(URL, var=tmp_path, environment=files)["OPTIONS"]
    assert options["ssl"] == {
        **{"ca": "ca", "cert": "crt", "key": "key"},
        **{"check_hostname": True, "verify_mode": "required"},
    }


@pytest.mark.parametrize("names", ["CERT", "KEY", "CERT KEY", "CA CERT", "CA KEY"])
def test_half_of_tls_is_refused(tmp_path: Path, names: str) -> None:
    given = {f"LAKEWARDEN_DB_{name}": "file" for name in names.split()}
    with pytest.raises(ImproperlyConfigured, match="needs LAKEWARDEN_DB_CA"):
        database_from_url(URL, var=tmp_path, environment=given)


def test_a_silent_server_is_waited_for_as_long_as_the_setting_says(tmp_path: Path) -> None:
    def limits(**environment: str) -> list[object]:
        options = database_from_url(URL, var=tmp_path, environment=environment)["OPTIONS"]
        return [options.get(name) for name in ("read_timeout", "write_timeout")]

    assert limits() == [120, 120]
    assert limits(LAKEWARDEN_DB_ANSWER_SECONDS="7") == [7, 7]
    assert limits(LAKEWARDEN_DB_ANSWER_SECONDS="0") == [None, None]
