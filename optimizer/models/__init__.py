"""What the optimizer room keeps; one file a question."""

from optimizer.models.commits import Commit, LayoutWrite
from optimizer.models.health import HealthPoint, PartitionHealth
from optimizer.models.hudi import HudiAlarm, HudiPoint, HudiTable, StoredLook
from optimizer.models.policies import PolicyVersion
from optimizer.models.quarantines import Quarantine
from optimizer.models.removals import RemovalPlan
from optimizer.models.tables import IcebergTable
from optimizer.models.tasks import OptimizeTask

__all__ = [
    "Commit",
    "HealthPoint",
    "HudiAlarm",
    "HudiPoint",
    "HudiTable",
    "IcebergTable",
    "LayoutWrite",
    "OptimizeTask",
    "PartitionHealth",
    "PolicyVersion",
    "Quarantine",
    "RemovalPlan",
    "StoredLook",
]
