"""Which address of the room shows what?"""

from django.urls import URLPattern, URLResolver, path

from optimizer.domain.policy_manners import TableFormat
from optimizer.ui import (
    acts,
    hudi_acts,
    hudi_files,
    hudi_policy,
    hudi_quality,
    hudi_services,
    hudi_tables,
    hudi_tasks,
    hudi_timeline,
    policies,
    queue,
    removals,
    table,
    table_policy,
    tables,
)

app_name = "optimizer"
OF_HUDI = {"table_format": TableFormat.HUDI}

urlpatterns: list[URLPattern | URLResolver] = [
    path("tables/", tables.tables, name="tables"),
    path("tables/<int:table_id>/", table.health, name="table"),
    path("tables/<int:table_id>/files/", table.files, name="table-files"),
    path("tables/<int:table_id>/layout/", table.layout, name="table-layout"),
    path("tables/<int:table_id>/commits/", table.commits, name="table-commits"),
    path("tables/<int:table_id>/tasks/", table.tasks, name="table-tasks"),
    path("tables/<int:table_id>/policy/", table_policy.policy, name="table-policy"),
    path("tables/<int:table_id>/plan/", acts.plan, name="table-plan"),
    path("tables/<int:table_id>/run/", acts.run_now, name="table-run"),
    path("tables/<int:table_id>/pause/", acts.pause, name="table-pause"),
    path("tables/<int:table_id>/resume/", acts.resume, name="table-resume"),
    path("tasks/<int:task_id>/cancel/", acts.cancel, name="task-cancel"),
    path("tables/<int:table_id>/removal/", removals.ask, name="table-removal"),
    path("hudi/", hudi_tables.hudi_tables, name="hudi-tables"),
    path("hudi/<int:table_id>/", hudi_quality.health, name="hudi-table"),
    path("hudi/<int:table_id>/timeline/", hudi_timeline.timeline, name="hudi-timeline"),
    path("hudi/<int:table_id>/files/", hudi_files.files, name="hudi-files"),
    path("hudi/<int:table_id>/services/", hudi_services.services, name="hudi-services"),
    path("hudi/<int:table_id>/tasks/", hudi_tasks.tasks, name="hudi-tasks"),
    path("hudi/<int:table_id>/now/", hudi_tasks.tasks_now, name="hudi-now"),
    path("hudi/<int:table_id>/settings/", hudi_policy.policy, name="hudi-settings"),
    path("hudi/<int:table_id>/plan/", hudi_acts.plan, name="hudi-plan"),
    path("hudi/<int:table_id>/look/", hudi_acts.look, name="hudi-look"),
    path("hudi/<int:table_id>/service/", hudi_acts.service, name="hudi-service"),
    path("hudi/<int:table_id>/pause/", hudi_acts.pause, name="hudi-pause"),
    path("hudi/<int:table_id>/resume/", hudi_acts.resume, name="hudi-resume"),
    path("removals/", removals.removals, name="removals"),
    path("removals/<uuid:removal_id>/", removals.removal, name="removal"),
    path("removals/<uuid:removal_id>/decide/", removals.decide, name="removal-decide"),
    path("removals/<uuid:removal_id>/withdraw/", removals.withdraw, name="removal-withdraw"),
    path("removals/<uuid:removal_id>/bring-back/", removals.bring_back, name="removal-bring-back"),
    path("queue/", queue.queue, name="queue"),
    path("queue/now/", queue.queue_live, name="queue-live"),
    path("policies/", policies.policies, name="policies"),
    path("policies/new/", policies.policy_new, name="policy-new"),
    path("policies/of/<str:scope>/", policies.policy_scope, name="policy-scope"),
    path("hudi/policies/", policies.policies, OF_HUDI, name="hudi-policies"),
    path("hudi/policies/new/", policies.policy_new, OF_HUDI, name="hudi-policy-new"),
    path(
        "hudi/policies/of/<str:scope>/",
        policies.policy_scope,
        OF_HUDI,
        name="hudi-policy-scope",
    ),
    path("hudi/<int:table_id>/policy/", policies.hudi_table, name="optimizer-hudi-policy"),
]
