"""Queries of people by what they may do on a lake."""

from collections import defaultdict
from collections.abc import Collection

from django.db.models import Q, QuerySet, Value

from portal.access.models import LakeRole, User
from portal.access.roles.domain import ALL_LAKES, ROLES, RoleGrant


def people_of_lake(roles: Collection[str], lake: str) -> QuerySet[User]:
    """Return the active people who have one of the roles on a lake, by name.

    Every mail, count and list of those who keep a lake begins here. Without a lake (empty) they
    have it on all lakes.
    """
    limited = LakeRole.objects.filter(role__in=roles, lake=lake)
    chosen = Q(groups__name__in=roles) | Q(pk__in=limited.values("user"))
    return User.objects.filter(chosen, is_active=True).distinct().order_by("username")


def people_with_roles(roles: Collection[str], *, also: Collection[str] = ()) -> list[User]:
    """Return the active people in any of the roles on any lake, and those named, by name.

    Two queries for any number of people; each has their roles read already.
    """
    limited = LakeRole.objects.filter(role__in=roles)
    chosen = Q(groups__name__in=roles) | Q(username__in=also) | Q(pk__in=limited.values("user"))
    found = list(User.objects.filter(chosen, is_active=True).distinct().order_by("username"))
    grants: defaultdict[int, set[RoleGrant]] = defaultdict(set)
    keys = [one.pk for one in found]
    groups = User.groups.through.objects.filter(user__in=keys, group__name__in=ROLES)
    everywhere = groups.values_list("user_id", "group__name", Value(ALL_LAKES))
    on_one = LakeRole.objects.filter(user__in=keys).values_list("user_id", "role", "lake")
    for pk, role, lake in everywhere.union(on_one, all=True):
        grants[pk].add(RoleGrant(role, lake))
    for one in found:
        # The property would ask for each person again.
        one.__dict__["grants"] = frozenset(grants[one.pk])
    return found


def read_along(person: User) -> frozenset[RoleGrant]:
    """Return the roles of a person whose groups and lake roles were read with the list."""
    everywhere = {RoleGrant(group.name) for group in person.groups.all() if group.name in ROLES}
    limited = {RoleGrant(row.role, row.lake) for row in person.lake_roles.all()}
    return frozenset(everywhere | limited)
