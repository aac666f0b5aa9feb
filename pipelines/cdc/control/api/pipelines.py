"""API of pipelines for admins and operators. It does all that their pages do."""

from typing import Any

from django.utils import timezone
from rest_framework.request import Request

from pipelines.cdc.control.api.serializers import (
    CapturedTableSerializer,
    ColumnChoiceSerializer,
    DeletePipelineSerializer,
    PipelineDetailSerializer,
    PipelineEditSerializer,
    PipelineParamsSerializer,
    PipelineRowSerializer,
    PipelineSerializer,
    SourceTestSerializer,
    TableProtectSerializer,
)
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.selectors.pipelines import (
    PIPELINE_ORDERS,
    TABLE_ORDERS,
    CapturedTableFilter,
    PipelineFilter,
    check_some_staff,
    get_captured_table,
    get_pipeline_for_user,
    pipeline_rows,
    pipelines_for,
    table_row,
    tables_of,
)
from pipelines.cdc.control.services.columns import column_choose
from pipelines.cdc.control.services.pipelines import (
    fixed_of,
    pipeline_create,
    pipeline_delete,
    pipeline_edit,
    pipeline_reload,
    pipeline_want,
    table_reload,
    table_want,
)
from pipelines.cdc.control.services.protections import table_protect
from pipelines.cdc.control.services.retrying import quarantine_retry
from pipelines.cdc.control.services.testing import checked_source, source_test
from pipelines.models import CapturedTable, Pipeline
from portal.access.actors import Actor
from portal.access.fresh import check_fresh, is_fresh
from portal.access.roles.domain import ALL_LAKES
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer
from portal.ui.frame.context import person


class PipelineList(KeysetList):
    """Pipelines."""

    operation_id = "pipelines_list"
    page_name = "Pipeline"
    serializer_class = PipelineRowSerializer
    filterset_class = PipelineFilter
    orders = PIPELINE_ORDERS

    def get_queryset(self) -> Rows:
        """List the pipelines (admins and operators)."""
        return pipelines_for(self.user)

    def completed(self, rows: list[Any]) -> list[Any]:
        """Say of each pipeline how it is."""
        for row, stands in zip(rows, pipeline_rows(rows, now=timezone.now()), strict=True):
            row.stands = stands
        return rows

    @operation(
        "pipelines_create", body=PipelineParamsSerializer, answer=PipelineSerializer, status=201
    )
    def post(self) -> object:
        """Test a source and create its pipeline (admins, with a fresh log-in)."""
        check_some_staff(self.user)
        spec = spec_of(self.data)
        by = actor(self.request, ALL_LAKES)
        checked_source(spec, by=by)
        return pipeline_create(spec, by=by, now=timezone.now())


class PipelineTest(ApiView):
    """Testing a source."""

    @operation("pipelines_test", body=PipelineParamsSerializer, answer=SourceTestSerializer)
    def post(self) -> object:
        """Test a source; nothing is stored (admins, with a fresh log-in)."""
        check_some_staff(self.user)
        spec = spec_of(self.data)
        return source_test(spec, by=actor(self.request, ALL_LAKES))


class PipelineDetail(ApiView):
    """One pipeline."""

    @operation("pipelines_get", answer=PipelineDetailSerializer)
    def get(self, name: str) -> object:
        """Return a pipeline and how it is."""
        found = get_pipeline_for_user(name, user=self.user)
        return pipeline_rows([found], now=timezone.now())[0]


class PipelineTables(KeysetList):
    """Tables of a pipeline."""

    operation_id = "pipelines_tables"
    page_name = "CapturedTable"
    serializer_class = CapturedTableSerializer
    filterset_class = CapturedTableFilter
    orders = TABLE_ORDERS

    def get_queryset(self) -> Rows:
        """List the tables of a pipeline, each with how it is."""
        return tables_of(get_pipeline_for_user(self.kwargs["name"], user=self.user))

    def completed(self, rows: list[Any]) -> list[Any]:
        """Say of each table how it is."""
        for row in rows:
            row.stands = table_row(row)
        return rows


class PipelineEdit(ApiView):
    """Changing a pipeline."""

    @operation("pipelines_edit", body=PipelineEditSerializer, answer=PipelineSerializer)
    def post(self, name: str) -> object:
        """Test another server, log-in or list of tables and keep it; 409 = it was changed since."""
        found = get_pipeline_for_user(name, user=self.user)
        by = actor(self.request, ALL_LAKES)
        data = self.data
        if "kafka" in data:
            data["kafka"] = {**data["kafka"], "topic": found.kafka.get("topic", "")}
        spec = spec_of({**vars(found), **fixed_of(found), **data})
        checked_source(spec, by=by)
        pipeline_edit(found, spec, version=data["version"], by=by, now=timezone.now())
        return as_it_is(found)


class PipelinePause(ApiView):
    """Pausing a pipeline."""

    @operation("pipelines_pause", body=ReasonSerializer, answer=PipelineSerializer)
    def post(self, name: str) -> object:
        """Capture and apply nothing more."""
        return _want(self.request, name, Desired.PAUSED, self.data["reason"])


class PipelineResume(ApiView):
    """Resuming a pipeline."""

    @operation("pipelines_resume", body=ReasonSerializer, answer=PipelineSerializer)
    def post(self, name: str) -> object:
        """Go on where it stopped."""
        return _want(self.request, name, Desired.RUNNING, self.data["reason"])


class PipelineReload(ApiView):
    """Loading a pipeline again."""

    @operation("pipelines_reload", body=ReasonSerializer, answer=PipelineSerializer)
    def post(self, name: str) -> object:
        """Load every table again, from where the source's log ends now."""
        found, by = to_change(self.request, name)
        pipeline_reload(found, reason=self.data["reason"], by=by, now=timezone.now())
        return as_it_is(found)


class TableReload(ApiView):
    """Loading a table again."""

    @operation("pipelines_table_reload", body=ReasonSerializer, answer=CapturedTableSerializer)
    def post(self, name: str, pk: int) -> object:
        """Load the table again beside its changes."""
        found, by = to_change(self.request, name)
        table = get_captured_table(found, pk)
        table_reload(table, reason=self.data["reason"], by=by, now=timezone.now())
        return _with_state(found, table)


class PipelineDelete(ApiView):
    """Deleting a pipeline."""

    @operation("pipelines_delete", body=DeletePipelineSerializer, status=204)
    def post(self, name: str) -> None:
        """Delete a paused pipeline; the lake's tables stay (admins, with a fresh log-in)."""
        found, by = to_change(self.request, name)
        now, data = timezone.now(), self.data
        check_fresh(self.request._request, now)
        pipeline_delete(found, typed=data["typed"], reason=data["reason"], by=by, now=now)


class TablePause(ApiView):
    """Pausing a table."""

    @operation("pipelines_table_pause", body=ReasonSerializer, answer=CapturedTableSerializer)
    def post(self, name: str, pk: int) -> object:
        """Apply nothing more to the table; its changes are still captured."""
        return _want_table(self.request, name, pk, Desired.PAUSED, self.data["reason"])


class TableResume(ApiView):
    """Resuming a table."""

    @operation("pipelines_table_resume", body=ReasonSerializer, answer=CapturedTableSerializer)
    def post(self, name: str, pk: int) -> object:
        """Apply what was captured meanwhile; one that failed is tried again."""
        return _want_table(self.request, name, pk, Desired.RUNNING, self.data["reason"])


class TableColumn(ApiView):
    """Deciding on a column."""

    @operation("pipelines_column", body=ColumnChoiceSerializer, answer=CapturedTableSerializer)
    def post(self, name: str, pk: int) -> object:
        """Say how the lake may have a column that came later: protected, plain, or not at all."""
        found, by = to_change(self.request, name)
        table, data = get_captured_table(found, pk), self.data
        said, reason, now = data["choice"], data["reason"], timezone.now()
        column_choose(table, data["column"], said, reason=reason, by=by, now=now)
        return _with_state(found, table)


class TableProtect(ApiView):
    """Protecting a table's columns."""

    @operation(
        "pipelines_table_protect", body=TableProtectSerializer, answer=CapturedTableSerializer
    )
    def post(self, name: str, pk: int) -> object:
        """Protect columns otherwise, or partition by another, into a new table (admins)."""
        found, by = to_change(self.request, name)
        table, data = get_captured_table(found, pk), self.data
        table_protect(
            table,
            data["protections"],
            partition=data["partition"],
            reason=data["reason"],
            by=by,
            now=timezone.now(),
        )
        return _with_state(found, table)


class QuarantineRetry(ApiView):
    """Retrying what is in quarantine."""

    @operation("pipelines_quarantine_retry", body=ReasonSerializer, answer=CapturedTableSerializer)
    def post(self, name: str, pk: int) -> object:
        """Apply the records in quarantine again, by version."""
        found, by = to_change(self.request, name)
        table = get_captured_table(found, pk)
        quarantine_retry(table, reason=self.data["reason"], by=by, now=timezone.now())
        return _with_state(found, table)


def _want(request: Request, name: str, desired: Desired, reason: str) -> Pipeline:
    found, by = to_change(request, name)
    pipeline_want(found, desired, reason=reason, by=by, now=timezone.now())
    return as_it_is(found)


def _want_table(request: Request, name: str, pk: int, desired: Desired, reason: str) -> object:
    found, by = to_change(request, name)
    table: CapturedTable = get_captured_table(found, pk)
    table_want(table, desired, reason=reason, by=by, now=timezone.now())
    return _with_state(found, table)


def _with_state(pipeline: Pipeline, table: CapturedTable) -> object:
    row: Any = get_captured_table(pipeline, table.pk)
    row.stands = table_row(row)
    return row


def to_change(request: Request, name: str) -> tuple[Pipeline, Actor]:
    """Return a pipeline that somebody may see, and who wants to change it."""
    found = get_pipeline_for_user(name, user=person(request))
    return found, actor(request, found.lake)


def actor(request: Request, lake: str) -> Actor:
    """Return who calls, with their roles on a lake."""
    is_proven = is_fresh(request._request, timezone.now())
    return Actor.of(person(request), lake=lake, is_fresh=is_proven)


def as_it_is(pipeline: Pipeline) -> Pipeline:
    """Return a pipeline as it is after a change."""
    pipeline.refresh_from_db()
    return pipeline
