"""Which address of the API of clusters gives what?"""

from django.urls import URLPattern, path

from refresh.api import clusters

cluster_urlpatterns: list[URLPattern] = [
    path("clusters/", clusters.ClusterList.as_view(), name="clusters"),
    # Beside the clusters, for one of them may be called "test".
    path("test-cluster/", clusters.ClusterTest.as_view(), name="cluster-test"),
    path("clusters/<slug:name>/", clusters.ClusterDetail.as_view(), name="cluster"),
    path("clusters/<slug:name>/tables/", clusters.ClusterTables.as_view(), name="cluster-tables"),
    path("clusters/<slug:name>/edit/", clusters.ClusterEdit.as_view(), name="cluster-edit"),
    path("clusters/<slug:name>/read/", clusters.ClusterRead.as_view(), name="cluster-read"),
    path("clusters/<slug:name>/pause/", clusters.ClusterPause.as_view(), name="cluster-pause"),
    path("clusters/<slug:name>/resume/", clusters.ClusterResume.as_view(), name="cluster-resume"),
    path("clusters/<slug:name>/limits/", clusters.ClusterLimits.as_view(), name="cluster-limits"),
    path("clusters/<slug:name>/remove/", clusters.ClusterRemove.as_view(), name="cluster-remove"),
]
