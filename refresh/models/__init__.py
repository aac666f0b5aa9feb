"""What the refresh room keeps; one file a question."""

from refresh.models.clusters import (
    Cluster,
    ClusterCatalog,
    ClusterFrontEnd,
    DeclaredTable,
    MetastoreLoad,
)
from refresh.models.history import Ending, Refresh
from refresh.models.sweep import FileStamp, TableSweep, TargetProbe
from refresh.models.tables import (
    ChangedPartition,
    RefreshTarget,
    TargetOnFe,
    WatchedTable,
)

__all__ = [
    "ChangedPartition",
    "Cluster",
    "ClusterCatalog",
    "ClusterFrontEnd",
    "DeclaredTable",
    "Ending",
    "FileStamp",
    "MetastoreLoad",
    "Refresh",
    "RefreshTarget",
    "TableSweep",
    "TargetOnFe",
    "TargetProbe",
    "WatchedTable",
]
