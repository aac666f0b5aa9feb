"""What the portal's own clients reach of the cluster, and that a NameNode's end stops nothing."""

import json

from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.connectors.reach.lake_check import check_lake
from stack.cluster_stack import ClusterStack
from tests.support.documented_lake import documented_lake


def test_every_system_of_the_cluster_is_reached(cluster: ClusterStack) -> None:
    found = check_lake(cluster.config())
    assert {row.system: row.advice for row in found if row.advice} == {}


def test_the_documented_lake_has_the_keys_of_the_one_that_is_tested(cluster: ClusterStack) -> None:
    tested = json.loads(cluster.lakes_file.read_text("utf-8"))["main"]
    documented = documented_lake()
    assert documented.keys() == tested.keys()
    for part in ("kerberos", "hadoop_conf", "metastore_db"):
        assert documented[part].keys() == tested[part].keys()
    assert sorted(documented["spark_jars"]) == sorted(tested["spark_jars"])


def test_files_and_metastore_go_on_with_the_other_name_node(cluster: ClusterStack) -> None:
    config = cluster.config()
    path = config.path("/tmp/kept")
    fs = open_file_system(path, config=config)
    fs.write_new(path, b"before")
    cluster.ha.retire("nn1")
    cluster.ha.activate("nn2")
    try:
        assert fs.read(path) == b"before"
        fs.write_new(config.path("/tmp/after"), b"after")
        with Metastore.connect(config) as metastore:
            assert "default" in metastore.databases()
    finally:
        cluster.ha.mend()
