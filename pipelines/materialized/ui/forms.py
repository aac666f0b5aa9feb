"""The form of a materialization."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django import forms

from pipelines.materialized.models import EVERY_MINUTES, PAUSE_MINUTES
from pipelines.materialized.services.definitions import (
    LEAST_MINUTES,
    LONGEST_SQL,
    MOST_MINUTES,
    Wanted,
)
from pipelines.models import Materialization
from portal.lake.errors import PortalError, StaleState

STARTING = """SELECT dt, count(*) AS n, sum(amount) AS amount
FROM db.table
GROUP BY dt
"""


class MaterializationForm(forms.Form):
    """A definition, the table of its result, and how often it is refreshed."""

    name = forms.CharField(
        label="Table of the result", max_length=257, help_text="db.table, which is created"
    )
    sql = forms.CharField(
        label="Definition (SQL)",
        max_length=LONGEST_SQL,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false"}),
        help_text="one SELECT of dimensions and aggregates; the documentation says what it may be",
    )
    every_minutes = forms.IntegerField(
        label="Refreshed every (minutes)",
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        initial=EVERY_MINUTES,
    )
    on_commit = forms.BooleanField(label="Also after a commit of its facts", required=False)
    pause_minutes = forms.IntegerField(
        label="By commits at most every (minutes)",
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        initial=PAUSE_MINUTES,
        required=False,
        help_text="a table that commits all the time starts no run more often",
    )
    max_lag_minutes = forms.IntegerField(
        label="Queries may read it up to (minutes behind)",
        min_value=0,
        max_value=MOST_MINUTES,
        initial=0,
        required=False,
        help_text="0: a query is answered from it only while it has all that its sources have",
    )
    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)
    is_stale = False

    @classmethod
    def of(
        cls, row: Materialization, data: Mapping[str, Any] | None = None
    ) -> "MaterializationForm":
        """Show what is set now; the name stays."""
        initial = {"name": str(row), "version": row.version, **asdict(Wanted.of(row))}
        form = cls(data, initial=initial)
        form.fields["name"].disabled = True
        return form

    @property
    def wanted(self) -> Wanted:
        """What a valid form asks for."""
        data = self.cleaned_data
        return Wanted(
            data["sql"],
            data["every_minutes"],
            data["max_lag_minutes"] or 0,
            data["on_commit"],
            data["pause_minutes"] or PAUSE_MINUTES,
        )

    @property
    def status(self) -> int:
        """The HTTP status of the page that shows the form."""
        if not self.errors:
            return 200
        return 409 if self.is_stale else 400

    def refuse(self, error: PortalError) -> None:
        """Say what is refused at the field that it lies in."""
        self.is_stale = isinstance(error, StaleState)
        named = {
            "materialized.every": "every_minutes",
            "materialized.pause": "pause_minutes",
            "materialized.max_lag": "max_lag_minutes",
            "materialized.taken": "name",
            "materialized.database": "name",
            "name.table": "name",
            "name.grammar": "name",
        }
        field = named.get(error.code, "sql")
        self.add_error(None if self.is_stale else field, error.message)
