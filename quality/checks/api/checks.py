"""API of checks. It does all that the pages do."""

from django.utils import timezone

from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer, RunSerializer
from quality.checks.api.serializers import (
    CheckSetSerializer,
    ChecksVersionSerializer,
    MeasurementSerializer,
    PauseChecksSerializer,
    RuleOverrideSerializer,
    RuleResultSerializer,
    RuleSampleSerializer,
    RunChecksSerializer,
    SetChecksSerializer,
    UncheckedTableSerializer,
)
from quality.checks.selectors.check_sets import (
    HISTORY_ORDERS,
    RESULT_ORDERS,
    SET_ORDERS,
    CheckSetFilter,
    HistoryFilter,
    ResultFilter,
    check_sets_visible,
    get_check_set_for_user,
    get_result_for_user,
    history_of,
    results_of,
)
from quality.checks.selectors.coverage import (
    COVERAGE_ORDERS,
    CoverageFilter,
    tables_without_checks,
)
from quality.checks.services.declaring import Timing, checks_delete, checks_pause, checks_set
from quality.checks.services.overrides import override_ask, override_confirm
from quality.checks.services.requests import check_request
from quality.checks.services.samples import sample_read


class CheckSetList(KeysetList):
    """Tables with checks."""

    operation_id = "checks_list"
    page_name = "CheckSet"
    serializer_class = CheckSetSerializer
    filterset_class = CheckSetFilter
    orders = SET_ORDERS

    def get_queryset(self) -> Rows:
        """List the checks of tables that you may see."""
        return check_sets_visible(self.lake, self.user)

    @operation("checks_set", body=SetChecksSerializer, answer=CheckSetSerializer, status=201)
    def post(self) -> object:
        """Set the checks of the table that the document names; the same twice changes nothing."""
        data = self.data
        return checks_set(
            data["lake"],
            data["document"],
            timing=Timing(data["every_minutes"], data["on_commit"]),
            version=data["version"],
            user=self.user,
            now=timezone.now(),
        )


class UncheckedTables(KeysetList):
    """Tables without checks."""

    operation_id = "checks_coverage"
    page_name = "UncheckedTable"
    serializer_class = UncheckedTableSerializer
    filterset_class = CoverageFilter
    orders = COVERAGE_ORDERS

    def get_queryset(self) -> Rows:
        """List the tables that you may see and that have no checks."""
        return tables_without_checks(self.lake, self.user)


class CheckSetDetail(ApiView):
    """The checks of one table."""

    @operation("checks_get", answer=CheckSetSerializer)
    def get(self, set_id: int) -> object:
        """Return the rules of a table."""
        return get_check_set_for_user(set_id, self.user)


class CheckSetDelete(ApiView):
    """Deleting the checks of one table."""

    @operation("checks_delete", body=ChecksVersionSerializer, status=204)
    def post(self, set_id: int) -> None:
        """Delete a table's checks with all that was measured, as of the version that you read."""
        found = get_check_set_for_user(set_id, self.user)
        checks_delete(found, version=self.data["version"], user=self.user, now=timezone.now())


class CheckSetRun(ApiView):
    """Measuring one table."""

    @operation("checks_run", body=RunChecksSerializer, answer=RunSerializer, status=202)
    def post(self, set_id: int) -> object:
        """Measure a table now."""
        found = get_check_set_for_user(set_id, self.user)
        windows = self.data["windows"]
        return check_request(found, windows=windows, by=self.user.username, now=timezone.now())


class CheckSetPause(ApiView):
    """Pausing the schedule of one table."""

    @operation("checks_pause", body=PauseChecksSerializer, status=204)
    def post(self, set_id: int) -> None:
        """Stop measuring a table on schedule, or go on."""
        found = get_check_set_for_user(set_id, self.user)
        checks_pause(found, paused=self.data["paused"], user=self.user, now=timezone.now())


class RuleResults(KeysetList):
    """Results of a table's rules."""

    operation_id = "checks_results"
    page_name = "RuleResult"
    serializer_class = RuleResultSerializer
    filterset_class = ResultFilter
    orders = RESULT_ORDERS

    def get_queryset(self) -> Rows:
        """List the results of a table's rules, the last first."""
        return results_of(get_check_set_for_user(self.kwargs["set_id"], self.user))


class Measurements(KeysetList):
    """What was measured of a table."""

    operation_id = "checks_history"
    page_name = "Measurement"
    serializer_class = MeasurementSerializer
    filterset_class = HistoryFilter
    orders = HISTORY_ORDERS

    def get_queryset(self) -> Rows:
        """List what was measured of a table, the last first."""
        return history_of(get_check_set_for_user(self.kwargs["set_id"], self.user))


class RuleResultDetail(ApiView):
    """One result of a rule."""

    @operation("checks_result", answer=RuleResultSerializer)
    def get(self, result_id: int) -> object:
        """Return what a rule says of a window."""
        return get_result_for_user(result_id, self.user)


class RuleResultSamples(ApiView):
    """Rows against one result."""

    @operation("checks_samples", answer=RuleSampleSerializer)
    def get(self, result_id: int) -> object:
        """Return rows that speak against a rule (admins and who owns the table; it is recorded)."""
        found = get_result_for_user(result_id, self.user)
        return sample_read(found, user=self.user, now=timezone.now())


class RuleResultOverride(ApiView):
    """Asking for an override."""

    @operation("checks_override", body=ReasonSerializer, answer=RuleOverrideSerializer, status=201)
    def post(self, result_id: int) -> object:
        """Ask to override a blocking rule for a window; somebody else confirms it."""
        found = get_result_for_user(result_id, self.user)
        reason = self.data["reason"]
        return override_ask(found, reason=reason, user=self.user, now=timezone.now())


class RuleOverrideConfirm(ApiView):
    """Confirming an override."""

    @operation("checks_override_confirm", answer=RuleOverrideSerializer)
    def post(self, result_id: int) -> object:
        """Confirm the override that somebody else asked for."""
        found = get_result_for_user(result_id, self.user)
        return override_confirm(found, user=self.user, now=timezone.now())
