"""API of tables. It reads their status and takes the requests that a person may make."""

from typing import Any

from django.utils import timezone

from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer
from refresh.freshness.api.serializers import (
    AskSerializer,
    PendingChangeSerializer,
    RepairSerializer,
    TargetDetailSerializer,
    TargetSerializer,
)
from refresh.freshness.selectors.tables import (
    CHANGES_ORDERS,
    TARGET_ORDERS,
    TargetFilter,
    changes_of,
    checks_of,
    get_target_for_user,
    on_front_ends,
    targets_visible,
)
from refresh.freshness.services.actions import refresh_ask, repair_ask, table_opt_in, table_opt_out
from refresh.models import RefreshTarget


class TableList(KeysetList):
    """Tables of clusters."""

    operation_id = "refresh_tables_list"
    page_name = "RefreshTable"
    serializer_class = TargetSerializer
    filterset_class = TargetFilter
    orders = TARGET_ORDERS

    def get_queryset(self) -> Rows:
        """List how the tables stand that you may see, what is answered wrongly now first."""
        return targets_visible(self.lake, self.user)


class TableDetail(ApiView):
    """One table of a cluster."""

    @operation("refresh_tables_get", answer=TargetDetailSerializer)
    def get(self, target_id: int) -> object:
        """Return a table with every front end."""
        return _shown(get_target_for_user(target_id, self.user))


class ChangeList(KeysetList):
    """What is owed of a table."""

    operation_id = "refresh_tables_changes"
    page_name = "RefreshChange"
    serializer_class = PendingChangeSerializer
    orders = CHANGES_ORDERS

    def get_queryset(self) -> Rows:
        """List the partitions that changed and that some front end owes."""
        return changes_of(get_target_for_user(self.kwargs["target_id"], self.user))


class TableAsk(ApiView):
    """Asking for a refresh."""

    @operation("refresh_tables_ask", body=AskSerializer, answer=TargetDetailSerializer, status=202)
    def post(self, target_id: int) -> object:
        """Ask for the table, or for the partitions named; every cluster that shows it does it."""
        target = get_target_for_user(target_id, self.user)
        names = self.data["partitions"]
        refresh_ask(target, user=self.user, partitions=names, now=timezone.now())
        return _shown(get_target_for_user(target_id, self.user))


class TableRepair(ApiView):
    """Repairing what one front end missed."""

    @operation(
        "refresh_tables_repair", body=RepairSerializer, answer=TargetDetailSerializer, status=202
    )
    def post(self, target_id: int) -> object:
        """Ask for the whole table because of one front end (admins, operators)."""
        target = get_target_for_user(target_id, self.user)
        name = self.data["front_end"]
        repair_ask(target, front_end=name, user=self.user, now=timezone.now())
        return _shown(get_target_for_user(target_id, self.user))


class TableOptOut(ApiView):
    """Leaving a table out."""

    @operation("refresh_tables_opt_out", body=ReasonSerializer, answer=TargetDetailSerializer)
    def post(self, target_id: int) -> object:
        """Have nobody refresh the table any more (admins, operators)."""
        target = get_target_for_user(target_id, self.user)
        table_opt_out(target, user=self.user, reason=self.data["reason"], now=timezone.now())
        return _shown(get_target_for_user(target_id, self.user))


class TableOptIn(ApiView):
    """Taking a table in again."""

    @operation("refresh_tables_opt_in", body=ReasonSerializer, answer=TargetDetailSerializer)
    def post(self, target_id: int) -> object:
        """Have the table refreshed again (admins, operators)."""
        target = get_target_for_user(target_id, self.user)
        table_opt_in(target, user=self.user, reason=self.data["reason"], now=timezone.now())
        return _shown(get_target_for_user(target_id, self.user))


def _shown(target: RefreshTarget) -> object:
    found: Any = target
    found.each_fe, found.checks = on_front_ends(target), checks_of(target)
    return found
