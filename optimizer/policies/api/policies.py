"""API that reads, previews and sets the optimizer's policies."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from optimizer.models import HudiTable, IcebergTable
from optimizer.policies.api.fields import (
    OptimizerPolicyChangeSerializer,
    OptimizerPolicyPreviewSerializer,
    OptimizerPolicyVersionSerializer,
    OptimizerPolicyWishSerializer,
    OptimizerScopeSerializer,
    OptimizerTablePolicySerializer,
)
from optimizer.policies.domain.formats import MANNERS, TableFormat
from optimizer.policies.selectors.policies import levels_of, policy_current
from optimizer.policies.selectors.scopes import (
    HISTORY_ORDERS,
    SCOPE_FILTERS,
    SCOPE_ORDERS,
    ScopeRow,
    VersionFilter,
    format_of,
    get_scope_for_user,
    history_of,
    scope_of_table,
    scopes_visible,
    table_names,
)
from optimizer.policies.services.policies import PolicyChange, policy_set
from optimizer.policies.services.preview import policy_preview
from portal.lake.errors import RuleViolation
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person

LAKE = OpenApiParameter("lake", str)
FORMAT = OpenApiParameter(
    "table_format",
    str,
    enum=[one.value for one in TableFormat],
    description="of which tables the policies are; iceberg where it is absent",
)


class PolicyList(APIView):
    """The scopes of a lake that have settings."""

    @extend_schema(
        operation_id="optimizer_policies_list",
        responses=page_of("OptimizerScope", OptimizerScopeSerializer),
        parameters=[*list_parameters("scope", "level", "sets", "by"), FORMAT],
    )
    def get(self, request: Request) -> Response:
        """List what stands at each scope that you may see, by scope."""
        lake, user, about = current_lake(request), person(request), _format(request)
        names = table_names(lake, user, about)
        return keyset_response(
            request,
            scopes_visible(lake, user, names, about),
            filter_class=SCOPE_FILTERS[about],
            orders=SCOPE_ORDERS,
            show=lambda row: dict(OptimizerScopeSerializer(ScopeRow.of(row, names)).data),
        )

    @extend_schema(
        operation_id="optimizer_policies_set",
        request=OptimizerPolicyChangeSerializer,
        responses={201: OptimizerPolicyVersionSerializer},
        parameters=[LAKE],
    )
    def post(self, request: Request) -> Response:
        """Set all settings of a scope; 409 where another version stands than the one you saw."""
        body = OptimizerPolicyChangeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        change = PolicyChange(current_lake(request), **body.validated_data)
        made = policy_set(change, user=person(request), now=timezone.now())
        return Response(OptimizerPolicyVersionSerializer(made).data, status=201)


class PolicyPreview(APIView):
    """Trying a policy out."""

    @extend_schema(
        operation_id="optimizer_policies_preview",
        request=OptimizerPolicyWishSerializer,
        responses=OptimizerPolicyPreviewSerializer,
        parameters=[LAKE],
    )
    def post(self, request: Request) -> Response:
        """Say which settings of how many tables would change; nothing is kept."""
        body = OptimizerPolicyWishSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        lake, user = current_lake(request), person(request)
        change = PolicyChange(lake, **body.validated_data, seen=0, why="")
        names = table_names(lake, user, change.table_format)
        found = policy_preview(change, user=user, names=names)
        return Response(OptimizerPolicyPreviewSerializer(found).data)


class PolicyHistory(APIView):
    """The versions of one scope."""

    @extend_schema(
        operation_id="optimizer_policies_history",
        responses=page_of("OptimizerPolicyVersion", OptimizerPolicyVersionSerializer),
        parameters=[*list_parameters("by"), FORMAT],
    )
    def get(self, request: Request, scope: str) -> Response:
        """List the versions of a scope, newest first: who, when, why and what."""
        lake, user, about = current_lake(request), person(request), _format(request)
        get_scope_for_user(lake, scope, user, table_names(lake, user, about), about)
        return keyset_response(
            request,
            history_of(lake, scope, about),
            filter_class=VersionFilter,
            orders=HISTORY_ORDERS,
            show=lambda row: dict(OptimizerPolicyVersionSerializer(row).data),
        )


def table_policy_response(table: IcebergTable | HudiTable) -> Response:
    """Return every setting as it holds for a table now, with the scope that says so."""
    about, scope = format_of(table), scope_of_table(table)
    manners, (levels, _) = MANNERS[about], levels_of(table.lake, about)
    found = manners.resolve(levels, db=table.db, table=table.table)
    own = policy_current(table.lake, scope, about) if scope else None
    values = manners.write(found.policy)
    shown: dict[str, Any] = {
        "lake": table.lake,
        "scope": scope,
        "seen": own.version if own else 0,
        "settings": {
            name: {"value": values[name], "scope": found.sources[name]} for name in manners.fields
        },
    }
    return Response(OptimizerTablePolicySerializer(shown).data)


def _format(request: Request) -> TableFormat:
    """Return the format of tables that was asked for.

    Raises:
        RuleViolation: `policy.format`.
    """
    said = request.query_params.get("table_format", TableFormat.ICEBERG.value)
    try:
        return TableFormat(said)
    except ValueError as error:
        raise RuleViolation(
            "policy.format",
            f"There are no policies of '{said}' tables: table_format is one of "
            f"{', '.join(TableFormat)}.",
        ) from error
