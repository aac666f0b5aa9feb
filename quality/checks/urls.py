"""Addresses of `quality.checks`: pages and API."""

from django.urls import URLPattern, path

from quality.checks.api import checks as api
from quality.checks.api import drafts as drafts_api
from quality.checks.ui import actions, drafts, pages

_SET, _RESULT = "checks/<int:set_id>/", "checks/results/<int:result_id>/"
_TRIAL = "checks/trials/<int:trial_id>/"

ui_urlpatterns: list[URLPattern] = [
    path("checks/", pages.checks, name="checks"),
    path("checks/new/", drafts.check_set_new, name="check-set-new"),
    path("checks/soda/", drafts.check_soda, name="check-soda"),
    path("checks/coverage/", pages.check_coverage, name="check-coverage"),
    path(_TRIAL, drafts.check_trial, name="check-trial"),
    path(_SET, pages.check_set, name="check-set"),
    path(f"{_SET}edit/", drafts.check_set_edit, name="check-set-edit"),
    path(f"{_SET}rules/<str:rule>/", pages.check_rule, name="check-rule"),
    path(f"{_SET}history/", pages.check_history, name="check-history"),
    path(f"{_SET}run/", actions.check_run_view, name="check-run"),
    path(f"{_SET}pause/", actions.check_pause_view, name="check-pause"),
    path(f"{_SET}delete/", actions.check_delete_view, name="check-delete"),
    path(_RESULT, pages.check_result, name="check-result"),
    path(f"{_RESULT}samples/", pages.check_samples, name="check-samples"),
    path(f"{_RESULT}override/", actions.check_override_view, name="check-override"),
    path(f"{_RESULT}confirm/", actions.check_override_confirm_view, name="check-override-confirm"),
]

api_urlpatterns: list[URLPattern] = [
    path("checks/", api.CheckSetList.as_view(), name="checks"),
    path("checks/coverage/", api.UncheckedTables.as_view(), name="check-coverage"),
    path("checks/try/", drafts_api.CheckSetTry.as_view(), name="check-try"),
    path("checks/trials/", drafts_api.CheckTrialList.as_view(), name="check-trials"),
    path(_TRIAL, drafts_api.CheckTrialDetail.as_view(), name="check-trial"),
    path("checks/proposal/", drafts_api.CheckSetPropose.as_view(), name="check-proposal"),
    path("checks/soda/", drafts_api.CheckSetSoda.as_view(), name="check-soda"),
    path(_SET, api.CheckSetDetail.as_view(), name="check-set"),
    path(f"{_SET}history/", api.Measurements.as_view(), name="check-history"),
    path(f"{_SET}results/", api.RuleResults.as_view(), name="check-results"),
    path(f"{_SET}run/", api.CheckSetRun.as_view(), name="check-run"),
    path(f"{_SET}pause/", api.CheckSetPause.as_view(), name="check-pause"),
    path(f"{_SET}delete/", api.CheckSetDelete.as_view(), name="check-delete"),
    path(_RESULT, api.RuleResultDetail.as_view(), name="check-result"),
    path(f"{_RESULT}samples/", api.RuleResultSamples.as_view(), name="check-samples"),
    path(f"{_RESULT}override/", api.RuleResultOverride.as_view(), name="check-override"),
    path(f"{_RESULT}confirm/", api.RuleOverrideConfirm.as_view(), name="check-override-confirm"),
]
