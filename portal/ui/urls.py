"""Addresses of the platform's own pages."""

from django.urls import path

from portal.health import livez, readyz
from portal.metrics import Metrics
from portal.ui.api import approvals as api_approvals
from portal.ui.api import people as api_people
from portal.ui.api import schema
from portal.ui.api import tables as api_tables
from portal.ui.api import tokens as api_tokens
from portal.ui.api import views as api
from portal.ui.tables import databases, saved_views
from portal.ui.tables import list as table_list
from portal.ui.tables import page as table_page
from portal.ui.views import (
    approvals,
    audit,
    driver_logs,
    emergency_stop,
    health,
    home,
    mail_links,
    mails,
    owners,
    people,
    person_options,
    runs,
    session,
    sign_in,
    tokens,
)

app_name = "ui"

urlpatterns = [
    path("", home.home, name="home"),
    path("home/tour/hide/", home.tour_hide, name="tour-hide"),
    path("home/pictures/<slug:key>/", home.home_picture, name="home-picture"),
    path("login/", session.Login.as_view(), name="login"),
    path("login/sso/", sign_in.begin, name="sign-in-begin"),
    path("login/sso/back/", sign_in.callback, name="sign-in-back"),
    path("login/sso/out/", sign_in.out, name="sign-in-out"),
    path("login/again/", session.fresh_login, name="fresh-login"),
    path("logout/", session.Logout.as_view(), name="logout"),
    path("theme/", session.theme, name="theme"),
    path("profile/", home.profile, name="profile"),
    path("profile/mails/", mails.muting, name="profile-mails"),
    path("databases/<name:db>/", databases.database, name="database"),
    path("tables/", table_list.tables, name="tables"),
    path("saved-views/", saved_views.save, name="saved-view-save"),
    path("saved-views/<int:view_id>/delete/", saved_views.delete, name="saved-view-delete"),
    path("tables/<name:db>/<name:table>/", table_page.table, name="table"),
    path("tables/<name:db>/<name:table>/<slug:key>/", table_page.tab, name="table-tab"),
    path(
        "tables/<name:db>/<name:table>/<slug:key>/<slug:part>/", table_page.tab, name="table-part"
    ),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:run_id>/", runs.run, name="run"),
    path("runs/<uuid:run_id>/log/", runs.run_log, name="run-log"),
    path("runs/<uuid:run_id>/driver-log/", driver_logs.driver_log, name="run-driver-log"),
    path("runs/<uuid:run_id>/progress/", runs.run_progress, name="run-progress"),
    path("runs/<uuid:run_id>/cancel/", runs.run_stop, name="run-cancel"),
    path("approvals/", approvals.approvals, name="approvals"),
    path(
        "approvals/<str:kind>/<uuid:proposal_id>/ranges/<name:db>/<name:table>/",
        approvals.ranges,
        name="approval-ranges",
    ),
    path(
        "approvals/<str:kind>/<uuid:proposal_id>/comments/",
        approvals.comment,
        name="approval-comments",
    ),
    path("audit/", audit.audit, name="audit"),
    path("people/", people.people, name="people"),
    path("people/<str:username>/close/", people.close, name="person-close"),
    path("people/<str:username>/reopen/", people.reopen, name="person-reopen"),
    path("person-role/", people.role_change, name="person-role"),
    path("person-options/", person_options.person_options, name="person-options"),
    path("owners/", owners.owners, name="owners"),
    path("owners/set/", owners.owner_change, name="owner-set"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/new/", tokens.token_new, name="token-new"),
    path("tokens/<uuid:token_id>/end/", tokens.end, name="token-end"),
    path("mails/", mails.mails, name="mails"),
    path("mails/off/<str:token>/", mail_links.mail_off, name="mail-off"),
    path("mails/one-click/<str:token>/", mail_links.mail_one_click, name="mail-one-click"),
    path("mails/<uuid:notice_id>/", mails.mail, name="mail"),
    path("mails/<uuid:notice_id>/retry/", mails.mail_retry, name="mail-retry"),
    path("red-button/", emergency_stop.red_button, name="red-button"),
    path("health/", health.health, name="health"),
    path("api/", schema.api_page, name="api"),
    path("api/explorer/", schema.api_explorer, name="api-explorer"),
    path("api/v1/schema/", schema.Schema.as_view(), name="schema"),
    path("api/v1/runs/", api.RunList.as_view(), name="api-runs"),
    path("api/v1/runs/<uuid:run_id>/", api.RunDetail.as_view(), name="api-run"),
    path(
        "api/v1/runs/<uuid:run_id>/driver-log/",
        api.RunDriverLog.as_view(),
        name="api-run-driver-log",
    ),
    path("api/v1/runs/<uuid:run_id>/lines/", api.RunLineList.as_view(), name="api-run-lines"),
    path("api/v1/runs/<uuid:run_id>/cancel/", api.RunCancel.as_view(), name="api-run-cancel"),
    path("api/v1/approvals/", api_approvals.ApprovalList.as_view(), name="api-approvals"),
    path(
        "api/v1/approvals/<str:kind>/<uuid:proposal_id>/changes/",
        api_approvals.ChangesView.as_view(),
        name="api-approval-changes",
    ),
    path(
        "api/v1/approvals/<str:kind>/<uuid:proposal_id>/ranges/<name:db>/<name:table>/",
        api_approvals.RangesView.as_view(),
        name="api-approval-ranges",
    ),
    path(
        "api/v1/approvals/<str:kind>/<uuid:proposal_id>/comments/",
        api_approvals.CommentList.as_view(),
        name="api-approval-comments",
    ),
    path("api/v1/saved-views/", api_tables.SavedViewList.as_view(), name="api-saved-views"),
    path(
        "api/v1/saved-views/<int:view_id>/delete/",
        api_tables.SavedViewDelete.as_view(),
        name="api-saved-view-delete",
    ),
    path("api/v1/tables/", api_tables.LakeTableList.as_view(), name="api-tables"),
    path(
        "api/v1/tables/<name:db>/<name:table>/",
        api_tables.LakeTableDetail.as_view(),
        name="api-table",
    ),
    path(
        "api/v1/databases/<name:db>/", api_tables.LakeDatabaseDetail.as_view(), name="api-database"
    ),
    path("api/v1/audit/", api.AuditList.as_view(), name="api-audit"),
    path("api/v1/person-search/", api_people.PersonSearch.as_view(), name="api-person-search"),
    path("api/v1/people/", api_people.PersonList.as_view(), name="api-people"),
    path(
        "api/v1/people/<str:username>/close/",
        api_people.PersonClose.as_view(),
        name="api-person-close",
    ),
    path(
        "api/v1/people/<str:username>/reopen/",
        api_people.PersonReopen.as_view(),
        name="api-person-reopen",
    ),
    path("api/v1/owners/", api_people.OwnerList.as_view(), name="api-owners"),
    path("api/v1/tokens/", api_tokens.TokenList.as_view(), name="api-tokens"),
    path("api/v1/tokens/<uuid:token_id>/end/", api_tokens.TokenEnd.as_view(), name="api-token-end"),
    path("api/v1/mail-kinds/", api.MailKindList.as_view(), name="api-mail-kinds"),
    path("api/v1/mails/", api.MailList.as_view(), name="api-mails"),
    path("api/v1/mails/<uuid:notice_id>/", api.MailDetail.as_view(), name="api-mail"),
    path("api/v1/mails/<uuid:notice_id>/retry/", api.MailRetry.as_view(), name="api-mail-retry"),
    path("api/v1/red-button/", api.EmergencyStopView.as_view(), name="api-red-button"),
    path("api/v1/health/", api.HealthView.as_view(), name="api-health"),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("metrics", Metrics.as_view(), name="metrics"),
]
