"""What the optimizer room keeps; one file a question."""

from optimizer.advice.models import Advice, Trial
from optimizer.core.models import OptimizeTask
from optimizer.cubes.models import Cube, CubeBuild, CubeCoverage, CubeUse, CubeVersion
from optimizer.fleet.models import ScanDay, SkippedDay, UnservedShape
from optimizer.hudi.tables.models import (
    HudiAlarm,
    HudiInstant,
    HudiPoint,
    HudiTable,
    StoredInspection,
)
from optimizer.iceberg.indexing.models import IndexCoverage, IndexUse
from optimizer.iceberg.inspect.models import HealthPoint, PartitionHealth
from optimizer.iceberg.maintenance.models import Quarantine
from optimizer.iceberg.tables.models import Commit, IcebergTable, LayoutWrite, ScanFilter, ScanShape
from optimizer.policies.models import PolicyVersion
from optimizer.queries.models import (
    GroupingSum,
    HudiGrouping,
    QueryDay,
    QueryGrouping,
    QuerySeconds,
    RecordedQuery,
    TopShape,
    TopShapeTable,
)
from optimizer.removals.models import RemovalPlan
from optimizer.trino_table.models import TrinoQueryTable
from optimizer.usage.models import ReportSender

__all__ = [
    "Advice",
    "Commit",
    "Cube",
    "CubeBuild",
    "CubeCoverage",
    "CubeUse",
    "CubeVersion",
    "GroupingSum",
    "HealthPoint",
    "HudiAlarm",
    "HudiGrouping",
    "HudiInstant",
    "HudiPoint",
    "HudiTable",
    "IcebergTable",
    "IndexCoverage",
    "IndexUse",
    "LayoutWrite",
    "OptimizeTask",
    "PartitionHealth",
    "PolicyVersion",
    "Quarantine",
    "QueryDay",
    "QueryGrouping",
    "QuerySeconds",
    "RecordedQuery",
    "RemovalPlan",
    "ReportSender",
    "ScanDay",
    "ScanFilter",
    "ScanShape",
    "SkippedDay",
    "StoredInspection",
    "TopShape",
    "TopShapeTable",
    "Trial",
    "TrinoQueryTable",
    "UnservedShape",
]
