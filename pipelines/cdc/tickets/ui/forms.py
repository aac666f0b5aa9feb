"""The form in which somebody announces a statement."""

from typing import Any

from django import forms

from pipelines.cdc.control.models import Pipeline
from pipelines.cdc.protecting.domain.protections import Method
from pipelines.cdc.tickets.domain.prediction import MOST_SIGNS
from pipelines.cdc.tickets.services.opening import Wanted

_PROTECTIONS = ", ".join(f"{one.value}:KEY" if one.is_keyed else one.value for one in Method)


class TicketForm(forms.Form):
    """Table, statement and reason; once they are checked, a choice for each new column."""

    table = forms.CharField(label="Table", max_length=600, help_text="database.table at the source")
    statement = forms.CharField(
        label="Statement",
        max_length=MOST_SIGNS,
        help_text="one ALTER TABLE, as it will run at the source",
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )
    reason = forms.CharField(label="Reason", max_length=1000)
    callback_url = forms.CharField(
        label="Callback",
        max_length=1024,
        required=False,
        help_text="https address that is told of each state, or nothing; its host must be allowed",
    )

    def __init__(self, *args: Any, added: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.added = added
        for place, column in enumerate(added):
            self.fields[f"choice_{place}"] = forms.CharField(
                label=f"New column {column} in the lake",
                max_length=80,
                help_text=f"its protection: {_PROTECTIONS}",
            )

    def wanted(self) -> Wanted:
        """Return what was typed."""
        data = self.cleaned_data
        db, _, table = data["table"].partition(".")
        choices = {column: data[f"choice_{place}"] for place, column in enumerate(self.added)}
        return Wanted(
            *(db, table, data["statement"], data["reason"], choices, data["callback_url"])
        )


def tables_hint(pipeline: Pipeline) -> list[str]:
    """Return the captured tables that the form offers."""
    rows = pipeline.tables.filter(refused="", schema_number__gt=0).order_by("db", "table")
    return [str(row) for row in rows[:200]]
