"""The rows of the lifecycle room; one file a subject."""

from lifecycle.models.ages import TableAges
from lifecycle.models.drills import DatabaseProof, DrillItem, RestoreDrill
from lifecycle.models.enrolments import Enrolment, EnrolmentItem
from lifecycle.models.findings import (
    CurrentGeneration,
    DatabaseFinding,
    Generation,
    ItemExample,
    ItemRange,
    PathFinding,
    TableFinding,
    TrendPoint,
)
from lifecycle.models.guard import DroppedObject, PolicyEvent
from lifecycle.models.path_fixes import AT_TARGET, FixItemState, PathFix, PathFixItem
from lifecycle.models.plan_parts import DropPlanPart
from lifecycle.models.plans import (
    BackupSlice,
    CleanNowRequest,
    DropPlan,
    DropPlanExample,
    DropPlanResult,
    DropPlanTable,
    ItemKind,
    PlanSource,
    PlanState,
    PurgeAnnouncement,
    StandingRule,
    StandingRuleState,
)
from lifecycle.models.policy import (
    AnnouncedCoverage,
    DatabaseSetting,
    PathWaiver,
    ShadowRecord,
    ShadowTable,
)
from lifecycle.models.policy_requests import PolicyRequest, PolicySeen
from lifecycle.models.still_read import StillReadYes
from lifecycle.models.totals import OwnerTotals

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
