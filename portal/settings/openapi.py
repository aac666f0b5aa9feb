"""The description of the API, and the names of its lists of values."""

DESCRIPTION = {
    "TITLE": "Lakewarden",
    "DESCRIPTION": "Governance of the data lake: what is there, what expires, who decided.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "portal.ui.api.error_answers.describe_errors",
    ],
    "ENUM_NAME_OVERRIDES": {
        "DecisionKindEnum": "portal.approvals.domain.DecisionKind",
        "AnswerOutcomeEnum": "lifecycle.answers.domain.Outcome",
        "TableHealthEnum": "portal.ui.api.tables.LEVELS",
        "BackupStateEnum": "lifecycle.backup.models.BACKUP_STATES",
        "DatabaseModeEnum": "lifecycle.core.domain.modes.DatabaseMode",
        "PolicyRequestKindEnum": "lifecycle.policies.domain.states.RequestKind",
        "PolicyRequestStateEnum": "lifecycle.policies.domain.states.RequestState",
        "EnrolmentStateEnum": "lifecycle.policies.domain.states.EnrollmentState",
        "AdviceStateEnum": "optimizer.advice.domain.states.AdviceState",
        "TrialStateEnum": "optimizer.advice.domain.states.TrialState",
        "CubeStateEnum": "optimizer.cubes.domain.states.CubeState",
        "IncidentStateEnum": "quality.incidents.domain.states.State",
        "IndexKindEnum": "optimizer.indexes.domain.envelope.Kind",
        "PlanStateEnum": "lifecycle.drop.models.plans.PlanState",
        "PathKindEnum": "lifecycle.inventory.models.findings.FindingKind",
        "EnrolItemStateEnum": "lifecycle.policies.domain.states.EnrollmentItemState",
    },
}
