"""Filters of people, of the people behind owners' names, and of API tokens."""

import django_filters as filters
from django.db.models import Q, QuerySet

from portal.access.models import LakeRole, OwnerMapping, User
from portal.access.roles.domain import ROLES
from portal.people.domain import Way
from portal.people.models import ApiToken
from portal.people.selectors import HERE, LEFT
from portal.people.token_rules import TokenState
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix

STATES = [(HERE, "Active"), (LEFT, "Disabled")]
WAYS = [(Way.LOCAL, "Local account"), (Way.OIDC, "Single sign-on"), (Way.LDAP, "LDAP")]


class PeopleFilter(ListFilter):
    """Accounts by name, role, way in and state."""

    username = prefix("username", "User name")
    role = filters.ChoiceFilter(
        method="having",
        choices=[(one, one.capitalize()) for one in sorted(ROLES)],
        label="Role",
    )
    way = filters.ChoiceFilter(choices=WAYS, label="Sign-in method")
    state = filters.ChoiceFilter(choices=STATES, label="State")

    class Meta:
        model = User
        fields: list[str] = []

    def having(self, rows: QuerySet[User], _name: str, value: str) -> QuerySet[User]:
        """Keep those who have a role, on all lakes or on any."""
        on_one = LakeRole.objects.filter(role=value).values("user")
        everywhere = User.objects.filter(groups__name=value).values("pk")
        return rows.filter(Q(pk__in=everywhere) | Q(pk__in=on_one))


class OwnerFilter(ListFilter):
    """Mapped owner names by name, person and state."""

    owner = prefix("owner", "Owner")
    username = filters.CharFilter(label="Person")
    state = filters.ChoiceFilter(choices=STATES, label="State")

    class Meta:
        model = OwnerMapping
        fields: list[str] = []


class TokenFilter(ListFilter):
    """API tokens by name, owner and state."""

    name = prefix("name", "Token for")
    owner = filters.CharFilter(field_name="owner__username", label="Acts as")
    state = filters.ChoiceFilter(
        choices=[(state.value, badge_for(state.value).word) for state in TokenState], label="State"
    )

    class Meta:
        model = ApiToken
        fields: list[str] = []
