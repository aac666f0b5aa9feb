"""Which address of the room shows what?"""

from django.urls import URLPattern, URLResolver, path

from refresh.ui import asking, history, queue, tables
from refresh.ui.cluster_urls import cluster_urlpatterns

app_name = "refresh"

urlpatterns: list[URLPattern | URLResolver] = [
    path("tables/", tables.tables, name="tables"),
    path("tables/<int:target_id>/", tables.table, name="table"),
    path("tables/<int:target_id>/ask/", asking.ask, name="table-ask"),
    path("tables/<int:target_id>/repair/", asking.repair, name="table-repair"),
    path("tables/<int:target_id>/opt-out/", asking.opt_out, name="table-opt-out"),
    path("tables/<int:target_id>/opt-in/", asking.opt_in, name="table-opt-in"),
    path("queue/", queue.queue, name="queue"),
    path("queue/now/", queue.queue_live, name="queue-live"),
    path("history/", history.history, name="history"),
    path("history/<uuid:public_id>/", history.statement, name="statement"),
    *cluster_urlpatterns,
]
