"""What `check_lake` says where Spark's drivers are going to refuse a NameNode that it reaches."""

from dataclasses import replace
from pathlib import Path
from socket import socket

import pytest

from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.name_nodes import check_principals
from portal.lake.errors import ExternalFailure
from portal.spark.masters.hadoop_conf import HADOOP_CONFIGURATION
from tests.support.fake_name_node import fake_name_node

_PRINCIPAL = "dfs.namenode.kerberos.principal"


@pytest.fixture
def kerberos(tmp_path: Path) -> Kerberos:
    """A log-in without a keytab, so that whoever asks the KDC is told so."""
    return Kerberos("me@EXAMPLE.COM", str(tmp_path / "none"), "hive/_HOST@EXAMPLE.COM")


@pytest.mark.parametrize(
    ("conf", "method", "said"),
    [
        ({_PRINCIPAL: "nn/_HOST@EXAMPLE.COM"}, "KERBEROS", f"{_PRINCIPAL} is nn/_HOST@EXAMPLE.COM"),
        ({_PRINCIPAL: "hdfs/other@EXAMPLE.COM"}, "KERBEROS", "is hdfs/localhost, and "),
        ({}, "KERBEROS", f"hadoop_conf has no {_PRINCIPAL}"),
        ({_PRINCIPAL: "hdfs/_HOST@EXAMPLE.COM"}, "SIMPLE", "asks for no Kerberos"),
        ({f"{_PRINCIPAL}.pattern": "{nn,dn}/*@EXAMPLE.COM"}, "KERBEROS", "does not match"),
    ],
)
def test_a_principal_that_drivers_refuse_is_told(
    lake: LakeConfig,
    kerberos: Kerberos,
    conf: dict[str, str],
    method: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(HADOOP_CONFIGURATION, raising=False)
    config = replace(lake, kerberos=kerberos, hadoop_conf=conf)
    with (
        fake_name_node("hdfs/localhost", method=method) as port,
        pytest.raises(ExternalFailure, match=r"drivers refuse that NameNode\. Copy") as found,
    ):
        check_principals(config, kerberos, f"localhost:{port}")
    assert found.value.code == "check.name_node_principal"
    assert said in found.value.message


def test_a_principal_that_drivers_accept_must_be_known_to_the_kdc(
    lake: LakeConfig, kerberos: Kerberos
) -> None:
    conf = {_PRINCIPAL: "hdfs/_HOST@EXAMPLE.COM"}
    with fake_name_node() as port, pytest.raises(ExternalFailure) as found:
        check_principals(replace(lake, hadoop_conf=conf), kerberos, f"localhost:{port}")
    assert found.value.code == "kerberos.keytab_file"


@pytest.mark.parametrize("pattern", ["*", "{nn,hdfs}/*@EXAMPLE.COM"])
def test_each_name_node_is_asked_and_one_that_is_silent_is_told(
    lake: LakeConfig, kerberos: Kerberos, pattern: str
) -> None:
    with socket() as unused, fake_name_node() as port:
        unused.bind(("127.0.0.1", 0))
        silent = unused.getsockname()[1]
        conf = {
            "dfs.nameservices": "lake",
            "dfs.ha.namenodes.lake": "nn1,nn2",
            "dfs.namenode.rpc-address.lake.nn1": f"localhost:{silent}",
            "dfs.namenode.rpc-address.lake.nn2": f"localhost:{port}",
            f"{_PRINCIPAL}.pattern": pattern,
        }
        config = replace(lake, hadoop_conf=conf)
        said = check_principals(config, kerberos, "lake")
        assert said.startswith(f"localhost:{port} is hdfs/localhost; localhost:{silent} does not")
        with pytest.raises(ExternalFailure, match=f"localhost:{silent} does not") as found:
            check_principals(config, kerberos, f"localhost:{silent}")
    assert found.value.code == "check.unreachable"


def test_another_server_in_the_place_of_a_name_node_is_no_answer(
    lake: LakeConfig, kerberos: Kerberos
) -> None:
    with (
        fake_name_node(answer=b"\x00\x00\x00\x04HTTP") as port,
        pytest.raises(ExternalFailure, match="none of Hadoop's RPC"),
    ):
        check_principals(lake, kerberos, f"localhost:{port}")


def test_hadoop_s_files_of_the_host_may_say_the_principal(
    lake: LakeConfig, kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(lake, kerberos=kerberos, hadoop_conf={})
    monkeypatch.delenv(HADOOP_CONFIGURATION, raising=False)
    with fake_name_node() as port:
        with pytest.raises(ExternalFailure, match="hadoop_conf has no "):
            check_principals(config, kerberos, f"localhost:{port}")
        monkeypatch.setenv(HADOOP_CONFIGURATION, "/etc/hadoop/conf")
        said = check_principals(config, kerberos, f"localhost:{port}")
    assert said == f"localhost:{port} is hdfs/localhost"
