"""Rows of refresh, from each capability; Django finds them here."""

from refresh.changes.models import (
    ChangedPartition,
    RefreshTarget,
    TargetFrontEnd,
    WatchedTable,
)
from refresh.clusters.models import (
    Cluster,
    ClusterCatalog,
    ClusterFrontEnd,
    DeclaredTable,
    MetastoreLoad,
)
from refresh.history.models import Refresh, RefreshOutcome
from refresh.verify.models import FileStamp, TableSweep, TargetProbe

__all__ = [
    "ChangedPartition",
    "Cluster",
    "ClusterCatalog",
    "ClusterFrontEnd",
    "DeclaredTable",
    "FileStamp",
    "MetastoreLoad",
    "Refresh",
    "RefreshOutcome",
    "RefreshTarget",
    "TableSweep",
    "TargetFrontEnd",
    "TargetProbe",
    "WatchedTable",
]
