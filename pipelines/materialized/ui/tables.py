"""The columns of the lists of materializations and of refreshes."""

from urllib.parse import urlencode

from django.urls import reverse

from pipelines.materialized.domain.definition import DIALECT
from pipelines.materialized.selectors.materializations import ORDERS, REFRESH_ORDERS
from pipelines.models import Materialization
from portal.ui.lists.answers import ListSpec
from portal.ui.lists.tables import Column

_MOST_AGE_SECONDS = 3_600


def row_url(row: Materialization) -> str:
    """Return the page of a materialization."""
    return reverse("pipelines:materialization", args=[row.pk])


def try_url(row: Materialization) -> str:
    """Return the page that answers queries, filled in with the query that is kept.

    What was read of the sources may be as old as queries may read it: a source that is written all
    the time would else be read again and again. Days are those of UTC, as a refresh computes them.
    """
    age = min(row.max_lag_minutes * 60, _MOST_AGE_SECONDS)
    asked = {"lake": row.lake, "sql": row.sql, "dialect": DIALECT, "time_zone": "UTC"}
    return f"{reverse('optimizer:rewrite')}?{urlencode({**asked, 'max_age': age})}"


MATERIALIZATIONS = ListSpec(
    template="pipelines/materializations.html",
    caption="Materializations",
    columns=(
        Column(key="__str__", title="Table", sort="table", url=row_url),
        Column(key="badge", title="State", kind="state"),
        Column(key="fresh_at", title="Fresh as of", kind="ago", sort="fresh"),
        Column(key="n_groups", title="Groups", kind="count"),
        Column(key="n_dirty_groups", title="Dirty groups", kind="count"),
        Column(key="seconds", title="Last refresh (s)"),
        Column(key="n_answers", title="Answers", kind="count", is_zero_blank=True),
        Column(key="answered_at", title="Last used", kind="ago"),
        Column(key="owner", title="Owner"),
        Column(key="reason", title="Why it went so", is_wide=True),
    ),
    orders=ORDERS,
    filename="materializations.csv",
    exports=(
        "lake", "db", "table", "owner", "badge", "is_paused", "every_minutes", "on_commit",
        "pause_minutes", "fresh_at", "tried_at", "next_at", "way", "reason", "n_groups",
        "n_dirty_groups", "seconds", "n_answers", "answered_at", "problem",
        "version", "set_by", "set_at", "sql",
    ),
)  # fmt: skip
REFRESHES = ListSpec(
    template="pipelines/materialization.html",
    caption="Refreshes",
    columns=(
        Column(key="badge", title="Result", kind="state"),
        Column(key="ended_at", title="Ended", kind="ago", sort="ended"),
        Column(key="n_commits", title="Commits", kind="count"),
        Column(key="n_changed_groups", title="Changed groups", kind="count"),
        Column(key="n_dirty_groups", title="Dirty groups", kind="count"),
        Column(key="changed_bytes", title="Changes", kind="bytes"),
        Column(key="all_bytes", title="All", kind="bytes"),
        Column(key="seconds", title="Seconds"),
        Column(key="reason", title="Why", is_wide=True),
    ),
    orders=REFRESH_ORDERS,
    filename="refreshes.csv",
    exports=(
        "run", "requested_by", "ended_at", "state", "way", "reason", "n_groups",
        "n_changed_groups", "n_dirty_groups", "n_commits", "changed_bytes", "all_bytes", "seconds",
    ),
)  # fmt: skip
