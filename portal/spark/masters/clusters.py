"""Chooses what can be asked for the drivers of a lake: YARN, or Kubernetes."""

from portal.connectors.lake_config import LakeConfig
from portal.spark.masters.application import Cluster
from portal.spark.masters.kubernetes import KubernetesApi
from portal.spark.masters.resource_manager import ResourceManager
from portal.spark.masters.settings import is_kubernetes


def cluster_of(config: LakeConfig) -> Cluster:
    """Return the cluster of a lake whose master is one.

    Raises:
        ExternalFailure: its settings do not say where it is.
    """
    return KubernetesApi.of(config) if is_kubernetes(config) else ResourceManager.of(config)
