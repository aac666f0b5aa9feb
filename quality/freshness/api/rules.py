"""API of deadlines, rules and expected partitions. It does all that the pages do."""

from django.utils import timezone

from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from quality.freshness.api.serializers import (
    DeclareSerializer,
    EndSerializer,
    ExpectedPartitionSerializer,
    NewReadyRuleSerializer,
    ReadyRuleSerializer,
    declared,
)
from quality.freshness.selectors.expected import (
    EXPECTED_ORDERS,
    ExpectedPartitionFilter,
    expected_visible,
)
from quality.freshness.selectors.rules import (
    RULE_ORDERS,
    RuleFilter,
    get_rule_for_user,
    rules_visible,
)
from quality.freshness.services.declaring import rule_declare, rule_end


class ExpectedList(KeysetList):
    """Awaited partitions, newest first."""

    operation_id = "readiness_awaited_list"
    page_name = "ReadinessAwaited"
    serializer_class = ExpectedPartitionSerializer
    filterset_class = ExpectedPartitionFilter
    orders = EXPECTED_ORDERS

    def get_queryset(self) -> Rows:
        """List what is expected of tables that you may see; `late=now` what should be there."""
        return expected_visible(self.lake, self.user)


class RuleList(KeysetList):
    """Tables with a time or a rule."""

    operation_id = "readiness_rules_list"
    page_name = "ReadinessRule"
    serializer_class = ReadyRuleSerializer
    filterset_class = RuleFilter
    orders = RULE_ORDERS

    def get_queryset(self) -> Rows:
        """List what is declared of tables that you may see."""
        return rules_visible(self.lake, self.user)

    @operation(
        "readiness_rules_declare",
        body=NewReadyRuleSerializer,
        answer=ReadyRuleSerializer,
        status=201,
    )
    def post(self) -> object:
        """Declare for a table that you may see; the same twice changes nothing."""
        data = self.data
        return rule_declare(
            data["lake"],
            data["table"],
            declared(data),
            version=data["version"],
            user=self.user,
            now=timezone.now(),
        )


class RuleDetail(ApiView):
    """What is declared of one table."""

    @operation("readiness_rules_get", answer=ReadyRuleSerializer)
    def get(self, rule_id: int) -> object:
        """Return what is declared."""
        return get_rule_for_user(rule_id, self.user)

    @operation("readiness_rules_change", body=DeclareSerializer, answer=ReadyRuleSerializer)
    def post(self, rule_id: int) -> object:
        """Change what is declared, as of the version that you read."""
        found = get_rule_for_user(rule_id, self.user)
        data = self.data
        return rule_declare(
            found.lake,
            str(found),
            declared(data),
            version=data["version"],
            user=self.user,
            now=timezone.now(),
        )


class RuleEnd(ApiView):
    """Ending what is declared of one table."""

    @operation("readiness_rules_end", body=EndSerializer, status=204)
    def post(self, rule_id: int) -> None:
        """Forget the time, the rule and how its partitions stood; flags stay as they are."""
        found = get_rule_for_user(rule_id, self.user)
        rule_end(found, version=self.data["version"], user=self.user, now=timezone.now())
