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
from lifecycle.drop.models.requests import CleanNowRequest
from lifecycle.drop.models.standing import StandingRule, StandingRuleState
from lifecycle.enrollment.models import Enrolment, EnrolmentItem
from lifecycle.expiry.models import TableAges
from lifecycle.guard.models import DroppedObject, PolicyEvent
from lifecycle.inventory.models.findings import (
    CurrentGeneration,
    DatabaseFinding,
    Generation,
    ItemExample,
    ItemRange,
    PathFinding,
    TableFinding,
    TrendPoint,
)
from lifecycle.inventory.models.totals import OwnerTotals
from lifecycle.policies.models.policy import (
    AnnouncedCoverage,
    DatabaseSetting,
    PathWaiver,
    ShadowRecord,
    ShadowTable,
)
from lifecycle.policies.models.requests import PolicyRequest, PolicySeen
from lifecycle.policies.models.still_read import StillReadYes
from lifecycle.relocation.models import AT_TARGET, FixItemState, PathFix, PathFixItem
from lifecycle.restore.models import BackupSlice, PurgeAnnouncement
from lifecycle.restore_tests.models import DatabaseProof, DrillItem, RestoreDrill

__all__ = [
    "AT_TARGET",
    "AnnouncedCoverage",
    "BackupSlice",
    "CleanNowRequest",
    "CurrentGeneration",
    "DatabaseFinding",
    "DatabaseProof",
    "DatabaseSetting",
    "DrillItem",
    "DropPlan",
    "DropPlanExample",
    "DropPlanPart",
    "DropPlanResult",
    "DropPlanTable",
    "DroppedObject",
    "Enrolment",
    "EnrolmentItem",
    "FixItemState",
    "Generation",
    "ItemExample",
    "ItemKind",
    "ItemRange",
    "OwnerTotals",
    "PathFinding",
    "PathFix",
    "PathFixItem",
    "PathWaiver",
    "PlanSource",
    "PlanState",
    "PolicyEvent",
    "PolicyRequest",
    "PolicySeen",
    "PurgeAnnouncement",
    "RestoreDrill",
    "ShadowRecord",
    "ShadowTable",
    "StandingRule",
    "StandingRuleState",
    "StillReadYes",
    "TableAges",
    "TableFinding",
    "TrendPoint",
]
