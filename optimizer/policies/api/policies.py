"""API that reads, previews and sets the optimizer's policies."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.request import Request

from optimizer.models import HudiTable, IcebergTable
from optimizer.policies.api.fields import (
    OptimizerPolicyChangeSerializer,
    OptimizerPolicyParamsSerializer,
    OptimizerPolicyPreviewSerializer,
    OptimizerPolicyVersionSerializer,
    OptimizerScopeSerializer,
)
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
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
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows

FORMAT = OpenApiParameter(
    "table_format",
    str,
    enum=[one.value for one in TableFormat],
    description="of which tables the policies are; iceberg where it is absent",
)


@extend_schema_view(get=extend_schema(parameters=[FORMAT]))
class PolicyList(KeysetList):
    """The scopes of a lake that have settings."""

    operation_id = "optimizer_policies_list"
    serializer_class = OptimizerScopeSerializer
    filterset_class = SCOPE_FILTERS[TableFormat.ICEBERG]
    orders = SCOPE_ORDERS

    def get_queryset(self) -> Rows:
        """List what is at each scope that you may see, by scope."""
        about = _format(self.request)
        self.filterset_class = SCOPE_FILTERS[about]
        self._names = table_names(self.lake, self.user, about)
        return scopes_visible(self.lake, self.user, self._names, about)

    def completed(self, rows: list[Any]) -> list[Any]:
        """Count the tables under each scope."""
        return [ScopeRow.of(row, self._names) for row in rows]

    @operation(
        "optimizer_policies_set",
        body=OptimizerPolicyChangeSerializer,
        answer=OptimizerPolicyVersionSerializer,
        status=201,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Set all settings of a scope; 409 where another version stands than the one you saw."""
        change = PolicyChange(self.lake, **self.data)
        return policy_set(change, user=self.user, now=timezone.now())


class PolicyPreview(ApiView):
    """Trying a policy out."""

    @operation(
        "optimizer_policies_preview",
        body=OptimizerPolicyParamsSerializer,
        answer=OptimizerPolicyPreviewSerializer,
        parameters=LAKE,
    )
    def post(self) -> object:
        """Say which settings of how many tables would change; nothing is kept."""
        change = PolicyChange(self.lake, **self.data, seen=0, reason="")
        names = table_names(self.lake, self.user, change.table_format)
        return policy_preview(change, user=self.user, names=names)


@extend_schema_view(get=extend_schema(parameters=[FORMAT]))
class PolicyHistory(KeysetList):
    """The versions of one scope."""

    operation_id = "optimizer_policies_history"
    serializer_class = OptimizerPolicyVersionSerializer
    filterset_class = VersionFilter
    orders = HISTORY_ORDERS

    def get_queryset(self) -> Rows:
        """List the versions of a scope, newest first: who, when, why and what."""
        about = _format(self.request)
        names, scope = table_names(self.lake, self.user, about), self.kwargs["scope"]
        get_scope_for_user(self.lake, scope, self.user, names, about)
        return history_of(self.lake, scope, about)


def table_policy_settings(table: IcebergTable | HudiTable) -> dict[str, Any]:
    """Return every setting as it holds for a table now, with the scope that says so."""
    about, scope = format_of(table), scope_of_table(table)
    manners, (levels, _) = POLICY_SCHEMAS[about], levels_of(table.lake, about)
    found = manners.resolve(levels, db=table.db, table=table.table)
    own = policy_current(table.lake, scope, about) if scope else None
    values = manners.write(found.policy)
    return {
        "lake": table.lake,
        "scope": scope,
        "seen": own.version if own else 0,
        "settings": {
            name: {"value": values[name], "scope": found.sources[name]} for name in manners.fields
        },
    }


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
