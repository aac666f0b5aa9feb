"""API of holds. Programs read the holds that they may see; they place and end them as a person."""

from uuid import UUID

from django.utils import timezone

from lifecycle.backup.services.holds import hold_release
from lifecycle.inventory.api.serializers import HoldPlaceSerializer, HoldSerializer
from lifecycle.policies.selectors.holds import (
    HOLD_ORDERS,
    HoldFilterSet,
    get_hold_for_user,
    holds_visible,
)
from lifecycle.policies.services.holding import HoldParams, legal_hold_place
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer


class HoldList(KeysetList):
    """Holds that stand."""

    operation_id = "holds_list"
    serializer_class = HoldSerializer
    filterset_class = HoldFilterSet
    orders = HOLD_ORDERS

    def get_queryset(self) -> Rows:
        """List the holds on what you may see, newest first."""
        return holds_visible(self.lake, self.user, now=timezone.now())

    @operation(
        "hold_place", body=HoldPlaceSerializer, answer=HoldSerializer, status=201, parameters=LAKE
    )
    def post(self) -> object:
        """Place a legal hold (admins)."""
        wish = HoldParams(lake=self.lake, **self.data)
        return legal_hold_place(wish, user=self.user, now=timezone.now())


class HoldRelease(ApiView):
    """Ending a hold."""

    @operation("hold_release", body=ReasonSerializer, answer=HoldSerializer, parameters=LAKE)
    def post(self, hold: UUID) -> object:
        """End a hold (an admin, or who placed it)."""
        reason = self.data["reason"]
        now = timezone.now()
        found = get_hold_for_user(self.lake, hold, user=self.user, now=now)
        hold_release(hold, user=self.user, reason=reason, now=now)
        return found
