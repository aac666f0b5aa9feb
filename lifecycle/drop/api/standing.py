"""API of owners' deletion requests and standing rules, equivalent to the pages."""

from uuid import UUID

from django.utils import timezone

from lifecycle.drop.api.serializers import (
    DeletionRequestParamsSerializer,
    DeletionRequestSerializer,
    RuleRequestSerializer,
    RuleSerializer,
)
from lifecycle.drop.selectors.plans import DeletionRequestFilter, deletion_requests_visible
from lifecycle.drop.selectors.standing import RuleFilter, get_rule_for_user, rules_visible
from lifecycle.drop.services.deletion_requests import deletion_request, deletion_request_close
from lifecycle.drop.services.standing_rules import (
    RULES,
    RuleParams,
    standing_rule_end,
    standing_rule_request,
)
from lifecycle.models import StandingRule
from portal.access.models import User
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.proposals import decide_api, reasoned_api
from portal.ui.api.serializers import ReasonSerializer

ORDERS = {"-created": ("-created_at",), "created": ("created_at",)}


class DeletionRequestList(KeysetList):
    """Owners' requests to delete data now."""

    operation_id = "wishes_list"
    serializer_class = DeletionRequestSerializer
    filterset_class = DeletionRequestFilter
    orders = ORDERS

    def get_queryset(self) -> Rows:
        """List your requests (admins and operators: all)."""
        return deletion_requests_visible(self.lake, self.user)

    @operation(
        "wishes_create",
        body=DeletionRequestParamsSerializer,
        answer=DeletionRequestSerializer,
        status=201,
    )
    def post(self) -> object:
        """Ask that data of yours be cleaned now."""
        data = self.data
        return deletion_request(
            lake=self.lake,
            name=(data["db"], data["table"], data.get("partition", "")),
            with_recently_read=data["with_recently_read"],
            reason=data["reason"],
            user=self.user,
            now=timezone.now(),
        )


class DeletionRequestClose(ApiView):
    """Closing a request."""

    @operation("wishes_close", body=ReasonSerializer, status=204)
    def post(self, wish_id: UUID) -> None:
        """Take a request back, or decline it."""
        reason = self.data["reason"]
        deletion_request_close(wish_id, user=self.user, reason=reason, now=timezone.now())


class RuleList(KeysetList):
    """Standing rules."""

    operation_id = "standing_rules_list"
    page_name = "StandingRule"
    serializer_class = RuleSerializer
    filterset_class = RuleFilter
    orders = ORDERS

    def get_queryset(self) -> Rows:
        """List the standing rules that you may see."""
        return rules_visible(self.lake, self.user)

    @operation(
        "standing_rules_create", body=RuleRequestSerializer, answer=RuleSerializer, status=201
    )
    def post(self) -> object:
        """Ask two people for a standing rule (admins and operators)."""
        return standing_rule_request(
            self.lake, RuleParams(**self.data), user=self.user, now=timezone.now()
        )


class RuleDetail(ApiView):
    """One standing rule."""

    @operation("standing_rules_get", answer=RuleSerializer)
    def get(self, rule_id: UUID) -> object:
        """Return a rule."""
        return get_rule_for_user(rule_id, user=self.user)


def _shown(rule: StandingRule, _user: User) -> object:
    return rule


RuleDecide = decide_api(
    RULES,
    "standing_rules_decide",
    says="Approve or reject a rule.",
    shown=_shown,
    answer=RuleSerializer,
)
RuleEnd = reasoned_api(
    standing_rule_end,
    "standing_rules_end",
    says="End a rule before its last day.",
    shown=_shown,
    answer=RuleSerializer,
)
