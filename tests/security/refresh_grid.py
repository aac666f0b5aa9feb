"""Access grid of the clusters whose front ends are refreshed: admins and operators keep them."""

from collections.abc import Mapping

from tests.security.grid_bodies import CLUSTER, CLUSTER_NAME, LIMITS, WHY
from tests.security.grid_rows import ADMINS, STAFF, Row, post_only

CLUSTERS: Mapping[str, Row] = {
    "refresh:clusters": Row(STAFF),
    "refresh:cluster-add": Row(STAFF, STAFF, body={"do": "add", "name": "two", **CLUSTER}),
    "refresh:cluster": Row(STAFF, values=CLUSTER_NAME),
    "refresh:cluster-tables": Row(STAFF, values=CLUSTER_NAME),
    "refresh:cluster-edit": Row(
        STAFF, STAFF, values=CLUSTER_NAME, body={"do": "keep", "version": "0", **CLUSTER}
    ),
    "refresh:cluster-read": post_only(STAFF, *CLUSTER_NAME),
    "refresh:cluster-pause": post_only(STAFF, *CLUSTER_NAME, **WHY),
    "refresh:cluster-resume": post_only(STAFF, *CLUSTER_NAME, **WHY),
    "refresh:cluster-limits": post_only(STAFF, *CLUSTER_NAME, **LIMITS),
    "refresh:cluster-remove": post_only(ADMINS, *CLUSTER_NAME, typed="unread", **WHY),
    "refresh-api:clusters": Row(STAFF, STAFF, body={"name": "two", **CLUSTER}),
    "refresh-api:cluster-test": post_only(STAFF, **CLUSTER),
    "refresh-api:cluster": Row(STAFF, values=CLUSTER_NAME),
    "refresh-api:cluster-tables": Row(STAFF, values=CLUSTER_NAME),
    "refresh-api:cluster-edit": post_only(STAFF, *CLUSTER_NAME, version="0", **CLUSTER),
    "refresh:cluster-reading": Row(STAFF, values=CLUSTER_NAME),
    "refresh-api:cluster-read": post_only(STAFF, *CLUSTER_NAME),
    "refresh-api:cluster-pause": post_only(STAFF, *CLUSTER_NAME, **WHY),
    "refresh-api:cluster-resume": post_only(STAFF, *CLUSTER_NAME, **WHY),
    "refresh-api:cluster-limits": post_only(STAFF, *CLUSTER_NAME, **LIMITS),
    "refresh-api:cluster-remove": post_only(ADMINS, *CLUSTER_NAME, typed="unread", **WHY),
}
