"""Which address of the room's API gives what?"""

from django.urls import URLPattern, URLResolver, path

from refresh.api import history, queue, tables
from refresh.api.cluster_urls import cluster_urlpatterns

app_name = "refresh-api"

urlpatterns: list[URLPattern | URLResolver] = [
    path("tables/", tables.TableList.as_view(), name="tables"),
    path("tables/<int:target_id>/", tables.TableDetail.as_view(), name="table"),
    path("tables/<int:target_id>/changes/", tables.ChangeList.as_view(), name="table-changes"),
    path("tables/<int:target_id>/ask/", tables.TableAsk.as_view(), name="table-ask"),
    path("tables/<int:target_id>/repair/", tables.TableRepair.as_view(), name="table-repair"),
    path("tables/<int:target_id>/opt-out/", tables.TableOptOut.as_view(), name="table-opt-out"),
    path("tables/<int:target_id>/opt-in/", tables.TableOptIn.as_view(), name="table-opt-in"),
    path("queue/", queue.WaitingList.as_view(), name="queue"),
    path("queue/now/", queue.QueueNow.as_view(), name="queue-now"),
    path("history/", history.StatementList.as_view(), name="history"),
    path("history/<uuid:public_id>/", history.StatementDetail.as_view(), name="statement"),
    *cluster_urlpatterns,
]
