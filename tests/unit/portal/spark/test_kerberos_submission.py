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

_SHARED = "spark.authenticate.secret"


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


def _argv(lake: LakeConfig, tmp_path: Path) -> list[str]:
    return submit_argv(
        module="lifecycle.inventory.jobs.scan",
        tag="lw-1-1",
        spool="file:/spool",
        config=lake,
        log_file=tmp_path / "driver.log",
    )


def _settings(lake: LakeConfig, tmp_path: Path) -> dict[str, str]:
    argv = _argv(lake, tmp_path)
    confs = [text for flag, text in pairwise(argv) if flag == "--conf"]
    return dict(text.split("=", 1) for text in confs)


@pytest.mark.parametrize("master", ["local[2]", "yarn"])
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


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_kubernetes_is_refused_with_the_masters_that_work(
    lake: LakeConfig, tmp_path: Path, mode: str
) -> None:
    conf = {"spark.submit.deployMode": mode}
    pods = replace(lake, spark_master="k8s://https://api:6443", spark_conf=conf)
    with pytest.raises(ExternalFailure) as found:
        _argv(pods, tmp_path)
    assert found.value.code == "kerberos.kubernetes"
    assert not found.value.retryable
    for word in ("'main'", "Kubernetes (k8s://https://api:6443)", "spark_master", "yarn", "local"):
        assert word in found.value.message
    settings = _settings(replace(pods, kerberos=None), tmp_path)
    assert settings["spark.submit.deployMode"] == mode


def test_options_of_the_lakes_own_stay_beside_the_realm(lake: LakeConfig, tmp_path: Path) -> None:
    own = {"spark.executor.extraJavaOptions": "-Dsites=own"}
    settings = _settings(replace(lake, spark_conf=own), tmp_path)
    realm = "-Djava.security.krb5.conf=/etc/lake/krb5.conf"
    assert settings["spark.executor.extraJavaOptions"] == f"-Dsites=own {realm}"
    assert "-Duser.timezone=UTC" in settings["spark.driver.extraJavaOptions"]
    assert settings["spark.driver.extraJavaOptions"].endswith(realm)
    assert settings["spark.yarn.am.extraJavaOptions"] == realm


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        (None, 0, "is not set"),
        ("spark.authenticate.secret word", 0o640, "is open to others"),
        ("spark.authenticate true\n# spark.authenticate.secret\n", 0o600, "has no spark.auth"),
        ("", 0o600, "has no spark.auth"),
    ],
)
def test_a_standalone_master_without_a_secret_is_refused_with_a_reason(
    lake: LakeConfig, tmp_path: Path, text: str | None, mode: int, reason: str
) -> None:
    file = tmp_path / "spark.conf"
    standalone = replace(lake, spark_master="spark://host:7077")
    if text is not None:
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        standalone = replace(standalone, spark_properties_file=str(file))
    with pytest.raises(ExternalFailure, match=reason) as found:
        _settings(standalone, tmp_path)
    assert found.value.code == "kerberos.standalone"


@pytest.mark.parametrize("master", ["local[1]", "yarn", "spark://host:7077"])
def test_a_file_of_properties_is_for_the_portal_alone_on_every_master(
    lake: LakeConfig, tmp_path: Path, master: str
) -> None:
    file = tmp_path / "spark.conf"
    plain = replace(
        lake, kerberos=None, spark_master=master, spark_properties_file=str(file), spark_conf={}
    )
    with pytest.raises(ExternalFailure, match=r"cannot be read \(No such file") as found:
        _argv(plain, tmp_path)
    assert found.value.code == "config.spark_properties_file"
    file.write_text("spark.ssl.keyPassword word", encoding="utf-8")
    file.chmod(0o640)
    with pytest.raises(ExternalFailure, match="is open to others: chmod 600") as found:
        _argv(plain, tmp_path)
    assert found.value.code == "config.spark_properties_file"
    file.chmod(0o600)
    assert str(file) in _argv(plain, tmp_path)


@pytest.mark.parametrize("text", [f"{_SHARED} = s3cr3t\n", f"{_SHARED} s3cr3t\n"])
def test_programs_on_a_standalone_master_take_tokens_by_encrypted_calls(
    lake: LakeConfig, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "spark.conf"
    file.write_text(f"# shared\n{text}", encoding="utf-8")
    file.chmod(0o600)
    own = {"spark.plugins": "sites.Own", "spark.network.crypto.saslFallback": "true"}
    standalone = replace(
        lake, spark_master="spark://host:7077", spark_properties_file=str(file), spark_conf=own
    )
    settings = _settings(standalone, tmp_path)
    assert settings["spark.plugins"] == "sites.Own,lakewarden.spark.tokens.TokensPlugin"
    assert settings["spark.authenticate"] == settings["spark.network.crypto.enabled"] == "true"
    assert settings["spark.network.crypto.saslFallback"] == "false"
    argv = _argv(standalone, tmp_path)
    assert argv[argv.index("--properties-file") + 1] == str(file)
    assert "s3cr3t" not in " ".join(argv)
    assert kerberos_environment(standalone)["SPARK_USER"] == "lakewarden"
    plain = _settings(replace(standalone, kerberos=None, spark_conf={}), tmp_path)
    assert plain["spark.authenticate"] == "true"
    assert "spark.plugins" not in plain


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
