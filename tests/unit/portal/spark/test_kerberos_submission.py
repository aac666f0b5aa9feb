"""What a submission has for a lake with Kerberos, and that it has nothing without."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from portal.connectors.kerberos.settings import CONFIGURATION, Kerberos
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.spark.kerberos import kerberos_environment
from portal.spark.launch import submit_argv
from portal.spark.masters.hadoop_conf import HADOOP_CONFIGURATION
from tests.support.lakes import local_lake


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LakeConfig:
    """A lake that asks for a log-in."""
    monkeypatch.delenv(CONFIGURATION, raising=False)
    monkeypatch.delenv(HADOOP_CONFIGURATION, raising=False)
    keytab = tmp_path / "lakewarden.keytab"
    keytab.touch(mode=0o600)
    keytab.write_text("the key", encoding="utf-8")
    kerberos = Kerberos(
        "lakewarden@EXAMPLE.COM", str(keytab), "hive/_HOST@EXAMPLE.COM", "/etc/lake/krb5.conf"
    )
    return replace(
        local_lake(tmp_path, LakeId("main")),
        thrift_host="meta.example.com",
        kerberos=kerberos,
        hadoop_conf={"dfs.data.transfer.protection": "privacy"},
    )


def _settings(lake: LakeConfig, tmp_path: Path) -> dict[str, str]:
    argv = submit_argv(
        module="lifecycle.inventory.jobs.scan",
        tag="lw-1-1",
        spool="file:/spool",
        config=lake,
        log_file=tmp_path / "driver.log",
    )
    confs = [text for flag, text in pairwise(argv) if flag == "--conf"]
    return dict(text.split("=", 1) for text in confs)


@pytest.mark.parametrize("master", ["local[2]", "yarn", "k8s://https://api:6443"])
def test_every_master_that_passes_on_tokens_gets_the_log_in(
    lake: LakeConfig, tmp_path: Path, master: str
) -> None:
    settings = _settings(replace(lake, spark_master=master), tmp_path)
    assert lake.kerberos is not None
    assert settings["spark.kerberos.principal"] == "lakewarden@EXAMPLE.COM"
    assert settings["spark.kerberos.keytab"] == lake.kerberos.keytab
    hive = "spark.hadoop.hive.metastore"
    assert settings[f"{hive}.sasl.enabled"] == "true"
    assert settings[f"{hive}.kerberos.principal"] == "hive/meta.example.com@EXAMPLE.COM"
    assert settings["spark.hadoop.dfs.data.transfer.protection"] == "privacy"


def test_options_of_the_lakes_own_stay_beside_the_realm(lake: LakeConfig, tmp_path: Path) -> None:
    own = {"spark.executor.extraJavaOptions": "-Dsites=own"}
    settings = _settings(replace(lake, spark_conf=own), tmp_path)
    realm = "-Djava.security.krb5.conf=/etc/lake/krb5.conf"
    assert settings["spark.executor.extraJavaOptions"] == f"-Dsites=own {realm}"
    assert "-Duser.timezone=UTC" in settings["spark.driver.extraJavaOptions"]
    assert settings["spark.driver.extraJavaOptions"].endswith(realm)
    assert settings["spark.yarn.am.extraJavaOptions"] == realm


def test_a_standalone_master_is_refused_with_a_reason(lake: LakeConfig, tmp_path: Path) -> None:
    with pytest.raises(ExternalFailure, match="gives executors no tokens") as found:
        _settings(replace(lake, spark_master="spark://host:7077"), tmp_path)
    assert found.value.code == "kerberos.standalone"


def test_a_driver_finds_its_log_in(lake: LakeConfig) -> None:
    assert lake.kerberos is not None
    assert kerberos_environment(lake) == {
        "KRB5CCNAME": f"MEMORY:lakewarden@EXAMPLE.COM:{lake.kerberos.keytab}",
        "KRB5_CLIENT_KTNAME": f"FILE:{lake.kerberos.keytab}",
        CONFIGURATION: "/etc/lake/krb5.conf",
        "SPARK_SUBMIT_OPTS": "-Djava.security.krb5.conf=/etc/lake/krb5.conf",
    }


def test_without_kerberos_nothing_of_it_is_given(lake: LakeConfig, tmp_path: Path) -> None:
    plain = replace(lake, kerberos=None)
    assert not [name for name in _settings(plain, tmp_path) if "kerberos" in name or "sasl" in name]
    assert kerberos_environment(plain) == {}
