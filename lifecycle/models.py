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
from lifecycle.inventory.models.totals import OwnerTotals
from lifecycle.policies.models.policy import (
    DatabaseSetting,
    DryRunRecord,
    DryRunTable,
    NoticeCoverage,
    PathWaiver,
)
from lifecycle.policies.models.requests import PolicyRequest, PolicySnapshot
from lifecycle.policies.models.still_read import DeletionConsent
from lifecycle.relocation.models import AT_TARGET, FixItemState, RelocationMove, RelocationPlan
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
    "Enrollment",
    "EnrollmentItem",
    "FixItemState",
    "ItemKind",
    "LatestScan",
    "NoticeCoverage",
    "OwnerTotals",
    "PartitionRange",
    "PathFinding",
    "PathWaiver",
    "PlanSource",
    "PlanState",
    "PolicyEvent",
    "PolicyRequest",
    "PolicySnapshot",
    "PurgeNotice",
    "RelocationMove",
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
