"""Which address of clusters shows what?"""

from django.urls import URLPattern, path

from refresh.ui import cluster_acts, clusters

cluster_urlpatterns: list[URLPattern] = [
    path("clusters/", clusters.clusters, name="clusters"),
    # Beside the clusters, for one of them may be called "add".
    path("add-cluster/", cluster_acts.cluster_add_view, name="cluster-add"),
    path("clusters/<slug:name>/", clusters.cluster, name="cluster"),
    path("clusters/<slug:name>/tables/", clusters.declared, name="cluster-tables"),
    path("clusters/<slug:name>/edit/", cluster_acts.cluster_edit_view, name="cluster-edit"),
    path("clusters/<slug:name>/read/", cluster_acts.read_view, name="cluster-read"),
    path("clusters/<slug:name>/reading/", clusters.reading, name="cluster-reading"),
    path("clusters/<slug:name>/pause/", cluster_acts.pause_view, name="cluster-pause"),
    path("clusters/<slug:name>/resume/", cluster_acts.resume_view, name="cluster-resume"),
    path("clusters/<slug:name>/limits/", cluster_acts.limits_view, name="cluster-limits"),
    path("clusters/<slug:name>/remove/", cluster_acts.remove_view, name="cluster-remove"),
]
