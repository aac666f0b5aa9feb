"""Which address of the room's API gives what?"""

from django.urls import URLPattern, URLResolver, path

from optimizer.api import acts, hudi_acts, policies, queue, removals, tables

app_name = "optimizer-api"

urlpatterns: list[URLPattern | URLResolver] = [
    path("tables/", tables.TableList.as_view(), name="tables"),
    path("tables/<int:table_id>/", tables.TableDetail.as_view(), name="table"),
    path("tables/<int:table_id>/partitions/", tables.PartitionList.as_view(), name="partitions"),
    path("tables/<int:table_id>/trend/", tables.TrendList.as_view(), name="trend"),
    path("tables/<int:table_id>/commits/", tables.CommitList.as_view(), name="commits"),
    path("tables/<int:table_id>/tasks/", tables.TaskList.as_view(), name="tasks"),
    path("tables/<int:table_id>/plan/", acts.TablePlan.as_view(), name="plan"),
    path("tables/<int:table_id>/run/", acts.TableRun.as_view(), name="run"),
    path("tables/<int:table_id>/pause/", acts.TablePause.as_view(), name="pause"),
    path("tables/<int:table_id>/resume/", acts.TableResume.as_view(), name="resume"),
    path("tasks/<int:task_id>/cancel/", acts.TaskCancel.as_view(), name="task-cancel"),
    path("tables/<int:table_id>/removal/", removals.RemovalAsk.as_view(), name="table-removal"),
    path("hudi/<int:table_id>/plan/", hudi_acts.HudiPlan.as_view(), name="hudi-plan"),
    path("hudi/<int:table_id>/service/", hudi_acts.HudiService.as_view(), name="hudi-service"),
    path("hudi/<int:table_id>/pause/", hudi_acts.HudiPause.as_view(), name="hudi-pause"),
    path("hudi/<int:table_id>/resume/", hudi_acts.HudiResume.as_view(), name="hudi-resume"),
    path("removals/", removals.RemovalList.as_view(), name="removals"),
    path("removals/<uuid:removal_id>/", removals.RemovalDetail.as_view(), name="removal"),
    path(
        "removals/<uuid:removal_id>/decide/",
        removals.RemovalDecide.as_view(),
        name="removal-decide",
    ),
    path(
        "removals/<uuid:removal_id>/withdraw/",
        removals.RemovalWithdraw.as_view(),
        name="removal-withdraw",
    ),
    path(
        "removals/<uuid:removal_id>/bring-back/",
        removals.RemovalBringBack.as_view(),
        name="removal-bring-back",
    ),
    path("queue/", queue.WaitingList.as_view(), name="queue"),
    path("queue/now/", queue.QueueNow.as_view(), name="queue-now"),
    path("tables/<int:table_id>/policy/", policies.TablePolicy.as_view(), name="table-policy"),
    path("hudi/<int:table_id>/policy/", policies.HudiTablePolicy.as_view(), name="hudi-policy"),
    path("policies/", policies.PolicyList.as_view(), name="policies"),
    path("policies/preview/", policies.PolicyPreview.as_view(), name="policy-preview"),
    path("policies/of/<str:scope>/", policies.PolicyHistory.as_view(), name="policy-history"),
]
