"""One running cluster: Kerberos, two NameNodes, a metastore on MariaDB, YARN in cluster mode."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from portal.connectors.kerberos.settings import CONFIGURATION
from portal.spark.masters.hadoop_conf import HADOOP_CONFIGURATION
from stack.cluster_assets import fetch_clusters
from stack.cluster_stack import ClusterStack
from tests.clusters.whole.held import TOKEN_SECONDS
from tests.support.plan_story import use_stack


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterStack]:
    """A running lake of a company's cluster."""
    fetch_clusters()
    with pytest.MonkeyPatch.context() as patch:
        for name in (CONFIGURATION, HADOOP_CONFIGURATION):
            patch.delenv(name, raising=False)
        var = tmp_path_factory.mktemp("cluster")
        with ClusterStack.secured(var, token_seconds=TOKEN_SECONDS) as stack:
            yield stack


@pytest.fixture
def portal(cluster: ClusterStack, settings: Settings, tmp_path: Path) -> ClusterStack:
    """The cluster, governed by the portal of this process."""
    use_stack(settings, cluster, var=tmp_path)
    return cluster
