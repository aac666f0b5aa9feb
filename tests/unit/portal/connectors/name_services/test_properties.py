"""The NameNodes of a name service: one place under every name, and properties that can be used."""

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.connectors.name_services.principals import expected_principals, service_of
from portal.connectors.name_services.properties import (
    deadline_seconds,
    derived_aliases,
    name_nodes,
    turned,
)
from portal.lake.errors import ExternalFailure
from tests.unit.portal.connectors.test_lake_config import LAKE

CONF = {
    "dfs.nameservices": "lake, Cold",
    "dfs.ha.namenodes.lake": "nn1,nn2",
    "dfs.namenode.rpc-address.lake.nn1": "Master1:8020",
    "dfs.namenode.rpc-address.lake.nn2": "master2:9000",
    "dfs.namenode.http-address.lake.nn1": "master1:9870",
    "dfs.namenode.rpc-address.Cold": "archive:8020",
}


def _lake(**more: object) -> LakeConfig:
    own = {"default_fs": "hdfs://lake", "spool": "hdfs://lake/spool", "hadoop_conf": CONF}
    return LakeConfig.from_dict({**LAKE.as_dict(), **own, **more})


def test_each_name_node_is_another_name_of_its_service() -> None:
    assert derived_aliases(CONF) == {
        **{"lake": "lake", "master1:8020": "lake", "master1": "lake", "master1:9870": "lake"},
        **{"master2:9000": "lake"},
        # Clients know a service whose NameNode has no id by the NameNode's address alone.
        **dict.fromkeys(("cold", "archive:8020", "archive"), "archive:8020"),
    }
    assert derived_aliases({}) == {}


def test_a_service_is_known_by_its_own_name_where_it_has_one_name_node_with_an_id() -> None:
    conf = {
        "dfs.nameservices": "cold",
        "dfs.ha.namenodes.cold": "nn1",
        "dfs.namenode.rpc-address.cold.nn1": "archive:8020",
    }
    assert set(derived_aliases(conf).values()) == {"cold"}


@pytest.mark.parametrize(
    "name", ["lake", "LAKE", "master1:8020", "master1", "MASTER2:9000", "Master1"]
)
def test_a_location_under_any_name_is_the_same_place(name: str) -> None:
    assert _lake().path(f"hdfs://{name}/a/b") == _lake().path("/a/b")
    assert str(_lake().path("/a/b")) == "hdfs://lake/a/b"


def test_a_port_that_is_not_the_default_is_not_left_out() -> None:
    assert str(_lake().path("hdfs://master2/a")) == "hdfs://master2/a"


def test_two_services_are_two_places() -> None:
    lake = _lake()
    assert not lake.path("/a").same_file_system(lake.path("hdfs://cold/a"))
    assert lake.path("hdfs://archive/a") == lake.path("hdfs://cold/a")


def test_file_systems_of_the_properties_are_known_and_others_are_not() -> None:
    lake = _lake()
    seen = ["hdfs://master1/a", "hdfs://cold/a", "hdfs://elsewhere/a"]
    assert lake.unknown_file_systems(map(lake.path, seen)) == ["hdfs://elsewhere"]


def test_an_alias_that_was_typed_in_comes_first() -> None:
    assert str(_lake(path_aliases={"archive": "lake"}).path("hdfs://archive/a")) == "hdfs://lake/a"


def test_a_name_node_without_an_address_is_refused() -> None:
    conf = {**CONF, "dfs.ha.namenodes.lake": "nn1,nn2,nn3"}
    with pytest.raises(ExternalFailure, match=r"dfs\.namenode\.rpc-address\.lake\.nn3"):
        _lake(hadoop_conf=conf)


def test_reads_from_observers_are_refused() -> None:
    provider = "org.apache.hadoop.hdfs.server.namenode.ha.ObserverReadProxyProvider"
    conf = {**CONF, "dfs.client.failover.proxy.provider.lake": provider}
    with pytest.raises(ExternalFailure, match="must not read from observers"):
        _lake(hadoop_conf=conf)
    plain = provider.replace("ObserverRead", "ConfiguredFailover")
    conf["dfs.client.failover.proxy.provider.lake"] = plain
    assert _lake(hadoop_conf=conf).hadoop_conf == conf


def test_another_name_node_comes_first_in_each_turn() -> None:
    orders = [name_nodes(turned(CONF, "lake", n), "lake") for n in range(3)]
    assert orders == [("nn1", "nn2"), ("nn2", "nn1"), ("nn1", "nn2")]
    assert turned(CONF, "master1:8020", 1) == CONF


def test_an_answer_is_waited_for_as_long_as_hadoop_s_clients_are_told() -> None:
    name = "ipc.client.rpc-timeout.ms"
    assert deadline_seconds(_lake(hadoop_conf={**CONF, name: "8000"}).hadoop_conf) == 8.0
    assert deadline_seconds(_lake(hadoop_conf={**CONF, name: "0"}).hadoop_conf) is None
    assert deadline_seconds(_lake().hadoop_conf) is None
    with pytest.raises(ExternalFailure, match=r"ipc\.client\.rpc-timeout\.ms must be milliseconds"):
        _lake(hadoop_conf={**CONF, name: "8s"})
    for milliseconds in ("1", "999"):
        with pytest.raises(ExternalFailure, match=rf"{milliseconds} is less than a second"):
            _lake(hadoop_conf={**CONF, name: milliseconds})
    assert deadline_seconds(_lake(hadoop_conf={**CONF, name: "1000"}).hadoop_conf) == 1.0


def test_each_name_node_is_a_service_of_its_own_to_kerberos() -> None:
    conf = {**CONF, "dfs.namenode.kerberos.principal": "nn/_HOST@EXAMPLE.COM"}
    assert expected_principals(conf, "lake") == {
        "master1:8020": "nn/master1@EXAMPLE.COM",
        "master2:9000": "nn/master2@EXAMPLE.COM",
    }
    assert expected_principals(conf, "alone") == {"alone:8020": "nn/alone@EXAMPLE.COM"}
    assert expected_principals(CONF, "lake") == {}
    assert service_of(conf, "lake") == (
        "nn/master1@EXAMPLE.COM or nn/master2@EXAMPLE.COM (HDFS at lake)"
    )
    assert service_of(CONF, "lake") == "HDFS at lake"
