"""Which address of plans, standing rules and backups shows what?"""

from django.urls import URLPattern, path

from lifecycle.ui import (
    backup_contents,
    backups,
    plan_making,
    plans,
    restore_undo,
    savings,
    standing,
)

plan_urlpatterns: list[URLPattern] = [
    path("plans/", plans.plans, name="plans"),
    path("plans/new/", plan_making.plan_new, name="plan-new"),
    path("plans/<uuid:plan_id>/", plans.plan, name="plan"),
    path("plans/<uuid:plan_id>/progress/", plans.plan_progress, name="plan-progress"),
    path("plans/<uuid:plan_id>/approve/", plans.plan_approve_view, name="plan-approve"),
    path("plans/<uuid:plan_id>/reject/", plans.plan_reject_view, name="plan-reject"),
    path("plans/<uuid:plan_id>/withdraw/", plans.plan_withdraw_view, name="plan-withdraw"),
    path("plans/<uuid:plan_id>/<name:db>/<name:table>/", plans.plan_table, name="plan-table"),
    path("wishes/", plan_making.wishes, name="wishes"),
    path("wishes/new/", plan_making.wish_new, name="wish-new"),
    path("wishes/<uuid:wish_id>/close/", plan_making.wish_close, name="wish-close"),
    path("standing-rules/", standing.rules, name="standing-rules"),
    path("standing-rules/new/", standing.rule_new, name="standing-rule-new"),
    path("standing-rules/<uuid:rule_id>/", standing.rule, name="standing-rule"),
    path(
        "standing-rules/<uuid:rule_id>/decide/", standing.rule_decide, name="standing-rule-decide"
    ),
    path("standing-rules/<uuid:rule_id>/end/", standing.rule_end, name="standing-rule-end"),
    path("savings/", savings.savings, name="savings"),
    path("backups/", backups.backups, name="backups"),
    path("backups/days/<lwday:day>/", backups.backup_day, name="backup-day"),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/",
        backups.backup_table,
        name="backup-table",
    ),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/inside/",
        backup_contents.backup_contents,
        name="backup-contents",
    ),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/inside/look/",
        backup_contents.backup_contents_look,
        name="backup-contents-look",
    ),
    path("backups/batches/<uuid:batch_id>/", backups.backup, name="backup"),
    path("backups/batches/<uuid:batch_id>/look/", backups.backup_look, name="backup-look"),
    path("backups/restore/", backups.restore_new, name="restore-new"),
    path("backups/restore/<uuid:run_id>/", backups.restore, name="restore"),
    path(
        "backups/restore/<uuid:run_id>/progress/",
        backups.restore_progress,
        name="restore-progress",
    ),
    path("backups/restore/<uuid:run_id>/go/", backups.restore_go, name="restore-go"),
    path("backups/restore/<uuid:run_id>/undo/", restore_undo.restore_undo, name="restore-undo"),
]
