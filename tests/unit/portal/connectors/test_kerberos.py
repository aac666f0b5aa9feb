"""How a lake says as whom its clients log in, and what is told of a log-in that fails."""

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from portal.connectors.kerberos.gssapi import GssError
from portal.connectors.kerberos.settings import CONFIGURATION, Kerberos
from portal.connectors.kerberos.tickets import code_of, failure, is_login_failure
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from tests.support.lakes import local_lake


@pytest.fixture
def kerberos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kerberos:
    """A log-in whose keytab is a file of this test."""
    monkeypatch.delenv(CONFIGURATION, raising=False)
    keytab = tmp_path / "lakewarden.keytab"
    keytab.touch(mode=0o600)
    return Kerberos(
        principal="lakewarden/etl@EXAMPLE.COM",
        keytab=str(keytab),
        metastore_principal="hive/_HOST@EXAMPLE.COM",
        krb5_conf="/etc/lake/krb5.conf",
    )


def test_a_lake_keeps_its_log_in_from_file_to_request(kerberos: Kerberos, tmp_path: Path) -> None:
    lake = replace(local_lake(tmp_path, LakeId("main")), kerberos=kerberos)
    assert LakeConfig.from_dict(lake.as_dict()) == lake
    assert kerberos.service_principal("Meta.Example.com") == "hive/meta.example.com@EXAMPLE.COM"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"principal": "lakewarden"}, "kerberos.principal must be a name with a realm"),
        ({"metastore_principal": "hive@EXAMPLE.COM"}, "kerberos.metastore_principal"),
        ({"password": "secret"}, "password"),
        ({"keytab": None}, "keytab"),
    ],
)
def test_a_log_in_that_libraries_would_read_differently_is_refused(
    kerberos: Kerberos, tmp_path: Path, change: dict[str, str | None], said: str
) -> None:
    lake = local_lake(tmp_path, LakeId("main")).as_dict()
    entry = {name: text for name, text in (asdict(kerberos) | change).items() if text is not None}
    with pytest.raises(ExternalFailure, match=said) as found:
        LakeConfig.from_dict({**lake, "kerberos": entry})
    assert found.value.code == "config.lake"


def test_realms_of_several_lakes_are_known_together(
    kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONFIGURATION, "/etc/krb5.conf")
    for _ in range(2):
        kerberos.make_known()
    replace(kerberos, krb5_conf="/other").make_known()
    replace(kerberos, krb5_conf="").make_known()
    assert os.environ[CONFIGURATION] == "/etc/krb5.conf:/etc/lake/krb5.conf:/other"


def test_a_keytab_must_be_there_and_for_its_owner_alone(kerberos: Kerberos) -> None:
    keytab = Path(kerberos.keytab)
    kerberos.make_known()
    keytab.chmod(0o640)
    with pytest.raises(ExternalFailure, match="open to others: chmod 600") as found:
        kerberos.make_known()
    assert found.value.code == "kerberos.keytab_file"
    keytab.unlink()
    with pytest.raises(ExternalFailure, match="cannot be read"):
        kerberos.make_known()


@pytest.mark.parametrize(
    ("major", "minor", "code"),
    [
        (0xD0000, 2529638949, "kerberos.clock"),  # KRB5KRB_AP_ERR_SKEW, as C hands it over
        (0xD0000, -1765328360, "kerberos.keytab"),  # KRB5KDC_ERR_PREAUTH_FAILED
        (0xD0000, -1765328377, "kerberos.service"),  # KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN
        (0xD0000, -1765328352, "kerberos.expired"),  # KRB5KRB_AP_ERR_TKT_EXPIRED
        (0xD0000, -1765328383, "kerberos.expired"),  # KRB5KDC_ERR_NAME_EXP
        (0xD0000, -1765328361, "kerberos.expired"),  # KRB5KDC_ERR_KEY_EXP
        (0x70000, -1765328228, "kerberos.kdc_unreachable"),  # KRB5_KDC_UNREACH
        (0x70000, -1765328189, "kerberos.keytab"),  # no credentials, for whatever reason
        (0xD0000, 5, "kerberos.failed"),
    ],
)
def test_codes_say_what_an_operator_has_to_do(major: int, minor: int, code: str) -> None:
    error = GssError(major, minor, "the library's words")
    assert code_of(error) == code
    told = failure(error, "me@EXAMPLE.COM", "hive/host@EXAMPLE.COM")
    for word in ("me@EXAMPLE.COM", "hive/host@EXAMPLE.COM", "the library's words", "What to do: "):
        assert word in told.message


def test_only_log_ins_of_hdfs_are_taken_for_log_ins() -> None:
    assert is_login_failure(RuntimeError('GSSAPIError(GssMajorCodes { raw: "0x0" }, 5, "words")'))
    assert not is_login_failure(RuntimeError('RPCError("...AccessControlException", "denied")'))
