"""Queries of people by what they may do."""

from collections.abc import Collection

from django.db.models import Q

from portal.access.models import ROLES, User


def people_with_roles(roles: Collection[str], *, also: Collection[str] = ()) -> list[User]:
    """Return the active people in any of the roles, and those named, by name.

    Two queries for any number of people; each has their roles read already.
    """
    chosen = Q(groups__name__in=roles) | Q(username__in=also)
    rows = User.objects.filter(chosen, is_active=True).distinct().order_by("username")
    found = list(rows.prefetch_related("groups"))
    for one in found:
        # The property would ask for each person again.
        one.__dict__["roles"] = frozenset(group.name for group in one.groups.all()) & ROLES
    return found
