"""Addresses of `lifecycle.drop`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.drop.api import changes as api_changes
from lifecycle.drop.api import plans as api_plans
from lifecycle.drop.api import standing as api_standing
from lifecycle.drop.ui import making, plans, standing

ui_urlpatterns: list[URLPattern] = [
    path("plans/", plans.plans, name="plans"),
    path("plans/new/", making.plan_new, name="plan-new"),
    path("plans/<uuid:plan_id>/", plans.plan, name="plan"),
    path("plans/<uuid:plan_id>/progress/", plans.plan_progress, name="plan-progress"),
    path("plans/<uuid:plan_id>/approve/", plans.plan_approve_view, name="plan-approve"),
    path("plans/<uuid:plan_id>/reject/", plans.plan_reject_view, name="plan-reject"),
    path("plans/<uuid:plan_id>/withdraw/", plans.plan_withdraw_view, name="plan-withdraw"),
    path("plans/<uuid:plan_id>/<name:db>/<name:table>/", plans.plan_table, name="plan-table"),
    path(
        "plans/<uuid:plan_id>/<name:db>/<name:table>/ranges/",
        plans.plan_table_ranges,
        name="plan-table-ranges",
    ),
    path("wishes/", making.wishes, name="wishes"),
    path("wishes/new/", making.wish_new, name="wish-new"),
    path("wishes/<uuid:wish_id>/close/", making.wish_close, name="wish-close"),
    path("standing-rules/", standing.rules, name="standing-rules"),
    path("standing-rules/new/", standing.rule_new, name="standing-rule-new"),
    path("standing-rules/<uuid:rule_id>/", standing.rule, name="standing-rule"),
    path(
        "standing-rules/<uuid:rule_id>/decide/", standing.rule_decide, name="standing-rule-decide"
    ),
    path("standing-rules/<uuid:rule_id>/end/", standing.rule_end, name="standing-rule-end"),
]

api_urlpatterns: list[URLPattern] = [
    path("plans/", api_plans.PlanList.as_view(), name="plans"),
    path("plans/<uuid:plan_id>/", api_plans.PlanDetail.as_view(), name="plan"),
    path("plans/<uuid:plan_id>/tables/", api_plans.PlanTables.as_view(), name="plan-tables"),
    path(
        "plans/<uuid:plan_id>/tables/<name:db>/<name:table>/ranges/",
        api_changes.PlanTableRanges.as_view(),
        name="plan-table-ranges",
    ),
    path(
        "plans/<uuid:plan_id>/changes/", api_changes.PlanChangesView.as_view(), name="plan-changes"
    ),
    path("plans/<uuid:plan_id>/results/", api_plans.PlanResults.as_view(), name="plan-results"),
    path("plans/<uuid:plan_id>/approve/", api_plans.PlanApprove.as_view(), name="plan-approve"),
    path("plans/<uuid:plan_id>/reject/", api_plans.PlanReject.as_view(), name="plan-reject"),
    path("plans/<uuid:plan_id>/withdraw/", api_plans.PlanWithdraw.as_view(), name="plan-withdraw"),
    path("wishes/", api_standing.DeletionRequestList.as_view(), name="wishes"),
    path(
        "wishes/<uuid:wish_id>/close/",
        api_standing.DeletionRequestClose.as_view(),
        name="wish-close",
    ),
    path("standing-rules/", api_standing.RuleList.as_view(), name="standing-rules"),
    path("standing-rules/<uuid:rule_id>/", api_standing.RuleDetail.as_view(), name="standing-rule"),
    path(
        "standing-rules/<uuid:rule_id>/decide/",
        api_standing.RuleDecide.as_view(),
        name="standing-rule-decide",
    ),
    path(
        "standing-rules/<uuid:rule_id>/end/",
        api_standing.RuleEnd.as_view(),
        name="standing-rule-end",
    ),
]
