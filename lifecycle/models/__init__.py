"""The rows of the lifecycle room; one file a subject."""

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
    StandingRule,
    StandingRuleState,
)

__all__ = [
    "BackupSlice",
    "CleanNowRequest",
    "DropPlan",
    "DropPlanExample",
    "DropPlanResult",
    "DropPlanTable",
    "ItemKind",
    "PlanSource",
    "PlanState",
    "StandingRule",
    "StandingRuleState",
]
