"""Reads the policy requests visible to a person, and the actions open to them."""

from uuid import UUID

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.inventory.selectors.findings import databases_visible, tables_visible
from lifecycle.models import PolicyRequest, TableFinding
from lifecycle.policies.domain.states import RequestKind, RequestState
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter

REQUEST_ORDERS = {"-created": ("-created_at",), "created": ("created_at",)}


class RequestFilter(ListFilter):
    """Policy requests by state, kind and name."""

    state = filters.ChoiceFilter(
        choices=[(one.value, one.value.capitalize()) for one in RequestState], label="State"
    )
    kind = filters.ChoiceFilter(
        choices=[(one.value, one.value.replace("_", " ").capitalize()) for one in RequestKind],
        label="Kind",
    )
    db = filters.CharFilter(label="Database")
    table = filters.CharFilter(label="Table")

    class Meta:
        model = PolicyRequest
        fields: list[str] = []


def requests_visible(lake: str, user: User) -> QuerySet[PolicyRequest]:
    """Return the requests that a person made, is to answer, or that are about what they see."""
    rows = PolicyRequest.objects.filter(lake=lake).select_related("approval")
    if user.is_lake_staff_of(lake):
        return rows
    tables = tables_visible(lake, user).filter(db=OuterRef("db"), table=OuterRef("table"))
    databases = databases_visible(lake, user).filter(db=OuterRef("db"))
    return rows.filter(
        Q(requested_by=user.username)
        | Q(kind=RequestKind.HAND_OVER, owner=user.username)
        | Q(Exists(tables))
        | (Q(table="") & Q(Exists(databases)))
    )


def pending_kinds(found: TableFinding, partition: str) -> frozenset[str]:
    """Return the kinds of the requests that wait about a table, or about one partition of it."""
    rows = PolicyRequest.objects.filter(
        lake=found.lake,
        db=found.db,
        table=found.table,
        partition__in={"", partition},
        state=RequestState.PENDING,
    )
    return frozenset(rows.values_list("kind", flat=True))


def get_request_for_user(request_id: UUID | str, *, user: User) -> PolicyRequest:
    """Return one request, or NotVisible `policy_request.missing`, whether it exists or not."""
    found = PolicyRequest.objects.filter(pk=request_id).first()
    if found is not None:
        visible = requests_visible(found.lake, user).select_related("run", "hold", "path_exception")
        found = visible.filter(pk=found.pk).first()
    if found is None:
        raise NotVisible(
            "policy_request.missing", "There is no such request, or it is not yours to see."
        )
    return found


def may_accept(request: PolicyRequest, user: User) -> bool:
    """Whether a person may take a table over, or take it over for its new owner: never the giver.

    An owner who is to get their own table back from an admin may still say yes.
    """
    if request.kind != RequestKind.HAND_OVER:
        return False
    is_new_owner = request.owner == user.username
    return is_new_owner or (
        user.is_lake_admin_of(request.lake) and request.requested_by != user.username
    )
