"""Tests that grants of partitions are read where the metastore cannot list those of all tables."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from portal.connectors.metastore import Metastore
from portal.connectors.metastore_extras import MetastoreExtras
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_extras import dress
from tests.support.act_lake import ActLake
from tests.support.cut_line import cut_line


@pytest.fixture
def local(embedded_stack: Stack) -> Iterator[ActLake]:
    """A fresh database and backup root on local files."""
    yield from make_lake(embedded_stack)


def test_a_list_of_all_grants_that_fails_is_no_end_of_a_run(local: ActLake) -> None:
    """Hive 3.1.3 closes the connection when another table's granted partition is dropped then."""
    name = local.make_table("t", keys=("dt",), values=[("a",), ("b",)])
    dress(local, name)
    config = local.config
    with cut_line(config.thrift_host, config.thrift_port) as line:
        through = replace(config, thrift_host="127.0.0.1", thrift_port=line.port)
        with Metastore.connect(through) as metastore:
            extras = MetastoreExtras(metastore)
            expected = [repr(one) for one in extras.partition_grants(name, [["a"]])]
            assert len(expected) == 1
            assert "carol" in expected[0]
            line.lose_next()
            found = extras.partition_grants(name, [["a"]])
            assert line.n_lost == 1
            assert [repr(one) for one in found] == expected
            assert metastore.partition_names(name) == ["dt=a", "dt=b"]
