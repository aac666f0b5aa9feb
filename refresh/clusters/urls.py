"""Addresses of `refresh.clusters`: pages and API."""

from django.urls import URLPattern, path

from refresh.clusters.api import clusters as api_clusters
from refresh.clusters.ui import actions, pages

ui_urlpatterns: list[URLPattern] = [
    path("clusters/", pages.clusters, name="clusters"),
    # Beside the clusters, for one of them may be called "add".
    path("add-cluster/", actions.cluster_add_view, name="cluster-add"),
    path("clusters/<slug:name>/", pages.cluster, name="cluster"),
    path("clusters/<slug:name>/tables/", pages.declared, name="cluster-tables"),
    path("clusters/<slug:name>/edit/", actions.cluster_edit_view, name="cluster-edit"),
    path("clusters/<slug:name>/read/", actions.read_view, name="cluster-read"),
    path("clusters/<slug:name>/reading/", pages.reading, name="cluster-reading"),
    path("clusters/<slug:name>/pause/", actions.pause_view, name="cluster-pause"),
    path("clusters/<slug:name>/resume/", actions.resume_view, name="cluster-resume"),
    path("clusters/<slug:name>/limits/", actions.limits_view, name="cluster-limits"),
    path("clusters/<slug:name>/remove/", actions.remove_view, name="cluster-remove"),
]

api_urlpatterns: list[URLPattern] = [
    path("clusters/", api_clusters.ClusterList.as_view(), name="clusters"),
    # Beside the clusters, for one of them may be called "test".
    path("test-cluster/", api_clusters.ClusterTest.as_view(), name="cluster-test"),
    path("clusters/<slug:name>/", api_clusters.ClusterDetail.as_view(), name="cluster"),
    path(
        "clusters/<slug:name>/tables/", api_clusters.ClusterTables.as_view(), name="cluster-tables"
    ),
    path("clusters/<slug:name>/edit/", api_clusters.ClusterEdit.as_view(), name="cluster-edit"),
    path("clusters/<slug:name>/read/", api_clusters.ClusterRead.as_view(), name="cluster-read"),
    path("clusters/<slug:name>/pause/", api_clusters.ClusterPause.as_view(), name="cluster-pause"),
    path(
        "clusters/<slug:name>/resume/", api_clusters.ClusterResume.as_view(), name="cluster-resume"
    ),
    path(
        "clusters/<slug:name>/limits/", api_clusters.ClusterLimits.as_view(), name="cluster-limits"
    ),
    path(
        "clusters/<slug:name>/remove/", api_clusters.ClusterRemove.as_view(), name="cluster-remove"
    ),
]
