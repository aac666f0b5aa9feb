"""Filters that lists of tables and of statements share."""

from django.db.models import Q

from refresh.models import Cluster


def cluster_choices() -> list[tuple[str, str]]:
    """Return the names of all clusters, for lists of choices."""
    names = Cluster.objects.order_by("name").values_list("name", flat=True)
    return [(name, name) for name in names]


def named_from(field: str, value: str, *, prefix: str = "") -> Q:
    """Spell 'its name begins so', by the cluster's name or by Hive's."""
    ours, hive = f"{prefix}{field}__startswith", f"{prefix}watched__{field}__startswith"
    return Q(**{ours: value}) | Q(**{hive: value})
