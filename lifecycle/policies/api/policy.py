"""API reads of policies: of tables, of new tables, and of a database that is only observed."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from lifecycle.expiry.selectors import ages_of, table_what_if
from lifecycle.inventory.selectors.findings import get_database_for_user
from lifecycle.inventory.selectors.policy import database_policy, policy_history, table_policy
from lifecycle.inventory.services.item_details import why_inspection_request
from lifecycle.policies.api.serializers import DatabasePolicySerializer, TablePolicySerializer
from lifecycle.policies.domain.policy import Values, check_values
from lifecycle.policies.run_kinds import policy_inspection_request
from lifecycle.policies.services.extensions import bounds, extension_offer, put_off_from
from portal.lake.errors import NotAllowed, RuleViolation
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.serializers import RunSerializer
from portal.ui.frame.context import current_lake, person

VALUES = [OpenApiParameter("level", int), OpenApiParameter("ttl", int)]


class TablePolicy(ApiView):
    """A table's policy."""

    @operation(
        "table_policy_get",
        answer=TablePolicySerializer,
        parameters=[*LAKE, *VALUES, OpenApiParameter("partition", str)],
    )
    def get(self, db: str, table: str) -> object:
        """Return what stands, who changed it, and what would go under `level` and `ttl`.

        `offer` is what keeping it some days more would mean: the table, or the `partition` named.
        """
        now = timezone.now()
        partition = self.request.query_params.get("partition", "")
        found, due_on = put_off_from(self.lake, (db, table, partition), user=self.user)
        standing = table_policy(found)
        what = table_what_if(
            found,
            ages_of(found),
            before=standing.values,
            after=_tried(self.request, standing.values),
        )
        days = bounds().offered_days
        return {
            "values": standing.values,
            "owner": standing.owner,
            "problem": standing.problem,
            "known_at": standing.known_at,
            "is_newer_than_scan": standing.is_newer_than_scan,
            "what_if": what.as_json() | {"as_of": what.as_of},
            "offer": extension_offer(found, partition, due_on, days=days, now=now),
            "history": policy_history(self.lake, db, table),
        }


class DatabasePolicy(ApiView):
    """What new tables of a database get."""

    @operation("database_policy_get", answer=DatabasePolicySerializer, parameters=LAKE)
    def get(self, db: str) -> object:
        """Return what was read last, and who changed it."""
        get_database_for_user(self.lake, db, user=self.user)
        standing = database_policy(self.lake, db)
        return {
            "values": standing.values,
            "problem": standing.problem,
            "known_at": standing.known_at,
            "history": policy_history(self.lake, db),
        }


class DatabasePolicyRead(ApiView):
    """Reading what new tables get."""

    @operation("database_policy_look", answer=RunSerializer, status=202, parameters=LAKE)
    def post(self, db: str) -> object:
        """Have it read from the metastore (admins and operators)."""
        get_database_for_user(self.lake, db, user=self.user)
        if not self.user.is_lake_staff_of(self.lake):
            raise NotAllowed("policy.look", "Admins and operators have the metastore read.")
        return policy_inspection_request(self.lake, db, user=self.user, now=timezone.now())


class ItemDetails(ApiView):
    """Reading one partition's clocks."""

    @extend_schema(
        operation_id="why_look",
        request=None,
        responses={202: RunSerializer, 204: None},
        parameters=[*LAKE, OpenApiParameter("partition", str)],
    )
    def post(self, request: Request, db: str, table: str) -> Response:
        """Have the row of a partition brought whose range alone is kept; 204 if it is here."""
        name = (db, table, request.query_params.get("partition", ""))
        lake = current_lake(request)
        run = why_inspection_request(lake, name, user=person(request), now=timezone.now())
        return Response(RunSerializer(run).data, status=202) if run else Response(status=204)


def _tried(request: Request, standing: Values) -> Values:
    """Read the values that the address asks about."""
    level, ttl = (request.query_params.get(name, "") for name in ("level", "ttl"))
    if not level:
        return standing
    if not all(one.isascii() and one.isdigit() for one in (level, ttl or "0")):
        raise RuleViolation("policy.values", "LEVEL is 0 or 1, TTL a whole number of days.")
    wanted = Values(int(level), int(ttl) if ttl else None)
    check_values(wanted)
    return wanted
