"""Where no ticket can be had, a failure still names the service that was wanted."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.filesystem import open_file_system
from portal.connectors.kerberos.settings import CONFIGURATION, Kerberos
from portal.connectors.kerberos.tickets import seconds_left
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from tests.support.fake_name_node import fake_name_node
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served

_PRINCIPAL = "lakewarden@EXAMPLE.COM"


@pytest.fixture
def locked_out(lake: LakeConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LakeConfig:
    """A lake with a keytab that has no key."""
    conf = tmp_path / "krb5.conf"
    conf.write_text("[libdefaults]\n  default_realm = EXAMPLE.COM\n", encoding="utf-8")
    monkeypatch.setenv(CONFIGURATION, str(conf))
    keytab = tmp_path / "lakewarden.keytab"
    keytab.touch(mode=0o600)
    kerberos = Kerberos(_PRINCIPAL, str(keytab), "hive/_HOST@EXAMPLE.COM")
    return replace(lake, thrift_host="localhost", kerberos=kerberos)


def _told(ask: Callable[[], object]) -> ExternalFailure:
    with pytest.raises(ExternalFailure, match=f"refused {_PRINCIPAL} for .*What to do: ") as found:
        ask()
    assert found.value.code.startswith("kerberos.")
    return found.value


def test_the_metastore_is_named(locked_out: LakeConfig, tmp_path: Path) -> None:
    with served(ThriftLake(SmallHive(), tmp_path)) as port:
        error = _told(lambda: Metastore.connect(replace(locked_out, thrift_port=port)))
    assert "for hive/localhost@EXAMPLE.COM: " in error.message
    assert error.fields["target"] == "hive/localhost@EXAMPLE.COM"


@pytest.mark.parametrize(
    ("configured", "name"),
    [
        ("hdfs/_HOST@EXAMPLE.COM", "hdfs/localhost@EXAMPLE.COM (HDFS at {authority})"),
        ("", "HDFS at {authority}"),
    ],
)
def test_hdfs_is_named(locked_out: LakeConfig, configured: str, name: str) -> None:
    conf = {
        "hadoop.security.authentication": "kerberos",
        "dfs.namenode.kerberos.principal": configured,
    }
    with fake_name_node() as port:
        authority = f"localhost:{port}"
        config = replace(locked_out, default_fs=f"hdfs://{authority}", hadoop_conf=conf)
        root = config.path("/")
        error = _told(lambda: open_file_system(root, config=config).names(root))
    assert f"for {name.format(authority=authority)}: " in error.message


def test_the_kdc_itself_is_named_where_no_other_service_is_wanted(locked_out: LakeConfig) -> None:
    kerberos = locked_out.kerberos
    assert kerberos is not None
    error = _told(lambda: seconds_left(kerberos))
    assert "for krbtgt/EXAMPLE.COM@EXAMPLE.COM: " in error.message
