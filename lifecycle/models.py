"""The rows of the lifecycle room; one file a subject."""

from lifecycle.drop.models.parts import DropPlanPart
from lifecycle.drop.models.plans import (
    DropPlan,
    DropPlanExample,
    DropPlanResult,
    DropPlanTable,
    ItemKind,
    PlanSource,
    PlanState,
)
from lifecycle.drop.models.requests import DeletionRequest
from lifecycle.drop.models.standing import StandingRule, StandingRuleState
from lifecycle.enrollment.models import Enrollment, EnrollmentItem
from lifecycle.expiry.models import TableAges
from lifecycle.guard.models import DroppedObject, PolicyEvent
from lifecycle.inventory.models.findings import (
    DatabaseFinding,
    LatestScan,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
    TrendPoint,
)
from lifecycle.inventory.models.totals import DueDay, OwnerTotals
from lifecycle.policies.models.deletion_consents import DeletionConsent
from lifecycle.policies.models.policy import (
    DatabaseSetting,
    DryRunRecord,
    DryRunTable,
    NoticeCoverage,
    PathException,
)
from lifecycle.policies.models.requests import PolicyRequest, PolicySnapshot
from lifecycle.relocation.models import (
    AT_TARGET,
    RelocationMove,
    RelocationMoveState,
    RelocationPlan,
)
from lifecycle.restore.models import BackupSlice, PurgeNotice
from lifecycle.restore_tests.models import RestoreTest, RestoreTestItem, RestoreVerification

__all__ = [
    "AT_TARGET",
    "BackupSlice",
    "DatabaseFinding",
    "DatabaseSetting",
    "DeletionConsent",
    "DeletionRequest",
    "DropPlan",
    "DropPlanExample",
    "DropPlanPart",
    "DropPlanResult",
    "DropPlanTable",
    "DroppedObject",
    "DryRunRecord",
    "DryRunTable",
    "DueDay",
    "Enrollment",
    "EnrollmentItem",
    "ItemKind",
    "LatestScan",
    "NoticeCoverage",
    "OwnerTotals",
    "PartitionRange",
    "PathException",
    "PathFinding",
    "PlanSource",
    "PlanState",
    "PolicyEvent",
    "PolicyRequest",
    "PolicySnapshot",
    "PurgeNotice",
    "RelocationMove",
    "RelocationMoveState",
    "RelocationPlan",
    "RestoreTest",
    "RestoreTestItem",
    "RestoreVerification",
    "SamplePartition",
    "ScanSnapshot",
    "StandingRule",
    "StandingRuleState",
    "TableAges",
    "TableFinding",
    "TrendPoint",
]
