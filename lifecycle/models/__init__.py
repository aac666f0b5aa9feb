"""The rows of the lifecycle room; one file a subject."""

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
)

__all__ = [
    "AnnouncedCoverage",
    "BackupSlice",
    "CleanNowRequest",
    "CurrentGeneration",
    "DatabaseFinding",
    "DatabaseSetting",
    "DropPlan",
    "DropPlanExample",
    "DropPlanResult",
    "DropPlanTable",
    "Generation",
    "ItemExample",
    "ItemKind",
    "ItemRange",
    "PathFinding",
    "PathWaiver",
    "PlanSource",
    "PlanState",
    "PurgeAnnouncement",
    "ShadowRecord",
    "StandingRule",
    "StandingRuleState",
    "TableFinding",
    "TrendPoint",
]
