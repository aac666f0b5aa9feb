"""API of deadlines, rules and expected partitions. It does all that the pages do."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person
from quality.freshness.api.serializers import (
    AwaitedSerializer,
    DeclareSerializer,
    EndSerializer,
    NewReadyRuleSerializer,
    ReadyRuleSerializer,
    declared,
)
from quality.freshness.selectors.awaited import AWAITED_ORDERS, AwaitedFilter, awaited_visible
from quality.freshness.selectors.rules import (
    RULE_ORDERS,
    RuleFilter,
    get_rule_for_user,
    rules_visible,
)
from quality.freshness.services.declaring import rule_declare, rule_end


class AwaitedList(APIView):
    """Awaited partitions, newest first."""

    @extend_schema(
        operation_id="readiness_awaited_list",
        responses=page_of("ReadinessAwaited", AwaitedSerializer),
        parameters=list_parameters("db", "table", "standing", "late", "since", "until"),
    )
    def get(self, request: Request) -> Response:
        """List what is awaited of tables that you may see; `late=now` what should be there."""
        return keyset_response(
            request,
            awaited_visible(current_lake(request), person(request)),
            filter_class=AwaitedFilter,
            orders=AWAITED_ORDERS,
            show=lambda row: dict(AwaitedSerializer(row).data),
        )


class RuleList(APIView):
    """Tables with a time or a rule."""

    @extend_schema(
        operation_id="readiness_rules_list",
        responses=page_of("ReadinessRule", ReadyRuleSerializer),
        parameters=list_parameters("db", "table", "sets"),
    )
    def get(self, request: Request) -> Response:
        """List what is declared of tables that you may see."""
        return keyset_response(
            request,
            rules_visible(current_lake(request), person(request)),
            filter_class=RuleFilter,
            orders=RULE_ORDERS,
            show=lambda row: dict(ReadyRuleSerializer(row).data),
        )

    @extend_schema(
        operation_id="readiness_rules_declare",
        request=NewReadyRuleSerializer,
        responses={201: ReadyRuleSerializer},
    )
    def post(self, request: Request) -> Response:
        """Declare for a table that you may see; the same twice changes nothing."""
        body = NewReadyRuleSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        made = rule_declare(
            said["lake"],
            said["table"],
            declared(said),
            version=said["version"],
            user=person(request),
            now=timezone.now(),
        )
        return Response(ReadyRuleSerializer(made).data, status=201)


class RuleDetail(APIView):
    """What is declared of one table."""

    @extend_schema(operation_id="readiness_rules_get", responses=ReadyRuleSerializer)
    def get(self, request: Request, rule_id: int) -> Response:
        """Return what is declared."""
        return Response(ReadyRuleSerializer(get_rule_for_user(rule_id, person(request))).data)

    @extend_schema(
        operation_id="readiness_rules_change",
        request=DeclareSerializer,
        responses=ReadyRuleSerializer,
    )
    def post(self, request: Request, rule_id: int) -> Response:
        """Change what is declared, as of the version that you read."""
        user = person(request)
        found = get_rule_for_user(rule_id, user)
        body = DeclareSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        made = rule_declare(
            found.lake,
            str(found),
            declared(said),
            version=said["version"],
            user=user,
            now=timezone.now(),
        )
        return Response(ReadyRuleSerializer(made).data)


class RuleEnd(APIView):
    """Ending what is declared of one table."""

    @extend_schema(operation_id="readiness_rules_end", request=EndSerializer, responses={204: None})
    def post(self, request: Request, rule_id: int) -> Response:
        """Forget the time, the rule and how its partitions stood; flags stay as they are."""
        user = person(request)
        found = get_rule_for_user(rule_id, user)
        body = EndSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        rule_end(found, version=body.validated_data["version"], user=user, now=timezone.now())
        return Response(status=204)
