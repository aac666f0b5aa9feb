"""Which address of the API of plans, standing rules and backups gives what?"""

from django.urls import URLPattern, path

from lifecycle.api import backup_contents, backups, plans, savings, standing

plan_urlpatterns: list[URLPattern] = [
    path("plans/", plans.PlanList.as_view(), name="plans"),
    path("plans/<uuid:plan_id>/", plans.PlanDetail.as_view(), name="plan"),
    path("plans/<uuid:plan_id>/tables/", plans.PlanTables.as_view(), name="plan-tables"),
    path("plans/<uuid:plan_id>/results/", plans.PlanResults.as_view(), name="plan-results"),
    path("plans/<uuid:plan_id>/approve/", plans.PlanApprove.as_view(), name="plan-approve"),
    path("plans/<uuid:plan_id>/reject/", plans.PlanReject.as_view(), name="plan-reject"),
    path("plans/<uuid:plan_id>/withdraw/", plans.PlanWithdraw.as_view(), name="plan-withdraw"),
    path("wishes/", standing.WishList.as_view(), name="wishes"),
    path("wishes/<uuid:wish_id>/close/", standing.WishClose.as_view(), name="wish-close"),
    path("standing-rules/", standing.RuleList.as_view(), name="standing-rules"),
    path("standing-rules/<uuid:rule_id>/", standing.RuleDetail.as_view(), name="standing-rule"),
    path(
        "standing-rules/<uuid:rule_id>/decide/",
        standing.RuleDecide.as_view(),
        name="standing-rule-decide",
    ),
    path(
        "standing-rules/<uuid:rule_id>/end/", standing.RuleEnd.as_view(), name="standing-rule-end"
    ),
    path("savings/", savings.SavingsList.as_view(), name="savings"),
    path("backups/", backups.BackupList.as_view(), name="backups"),
    path("backups/<uuid:batch_id>/", backups.BackupDetail.as_view(), name="backup"),
    path("backups/<uuid:batch_id>/items/", backups.BackupItems.as_view(), name="backup-items"),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/contents/",
        backup_contents.BackupContents.as_view(),
        name="backup-contents",
    ),
    path("restores/", backups.RestoreList.as_view(), name="restores"),
    path("restores/<uuid:run_id>/", backups.RestoreDetail.as_view(), name="restore"),
    path("restores/<uuid:run_id>/undo/", backups.RestoreUndo.as_view(), name="restore-undo"),
]
