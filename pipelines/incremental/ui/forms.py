"""The forms of a layer: its definition, and the partitions of a backfill."""

from typing import Any

import msgspec
from django import forms

from pipelines.incremental.domain.definitions import (
    LEAST_MINUTES,
    LONGEST_STATEMENT,
    MOST_LATENESS,
    MOST_MINUTES,
    Layer,
    Source,
)
from pipelines.incremental.models import EVERY_MINUTES, PAUSE_MINUTES
from pipelines.incremental.services.declaring import Timing
from pipelines.models import Layer as Row
from portal.lake.errors import PortalError, RuleViolation, StaleState

_COLUMN: dict[str, Any] = {"max_length": 128, "required": False}
_STATIC = "static"
_MINUTES = {"every_minutes", "pause_minutes"}
_FIELDS = {*_MINUTES, "sql", "key", "target", "sources", "event_time", "function"}


class LayerForm(forms.Form):
    """What a layer is, and when it is advanced."""

    version_read = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)
    target = forms.CharField(
        label="Target", max_length=257, help_text="db.table; the layer makes the table"
    )
    sources = forms.CharField(
        label="Sources",
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="one db.table a line: the one whose changes it follows, and others with the word "
        "static after them",
    )
    sql = forms.CharField(
        label="SQL",
        max_length=LONGEST_STATEMENT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}),
        help_text="one SELECT: filters, expressions, and joins with static tables",
    )
    function = forms.CharField(
        label="Or a PySpark function",
        max_length=200,
        required=False,
        help_text="module:name, of a module that LAKEWARDEN_LAYER_MODULES lists",
    )
    key = forms.CharField(
        label="Key", max_length=1000, help_text="columns of the result that tell its rows apart"
    )
    version = forms.CharField(
        label="Version",
        help_text="of rows with one key the one with the greatest value of this column stays; "
        "empty: the key is of one row",
        **_COLUMN,
    )
    partition = forms.CharField(
        label="Partition", help_text="a column of the result; empty: no partitions", **_COLUMN
    )
    event_time = forms.CharField(
        label="Event time",
        help_text="a column of the source that changes; it says how far the target is",
        **_COLUMN,
    )
    lateness_minutes = forms.IntegerField(
        label="Rows may be late by (minutes)", min_value=0, max_value=MOST_LATENESS, initial=0
    )
    kind = forms.ChoiceField(
        label="Hudi table",
        choices=[
            ("COW", "Copy on write: the table is read fast"),
            ("MOR", "Merge on read: changes are written fast"),
        ],
    )
    every_minutes = forms.IntegerField(
        label="Advanced every (minutes)",
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        initial=EVERY_MINUTES,
    )
    on_commit = forms.BooleanField(
        label="Also after a commit of the source", required=False, initial=True
    )
    pause_minutes = forms.IntegerField(
        label="By commits at most every (minutes)",
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        initial=PAUSE_MINUTES,
        required=False,
        help_text="a source that commits all the time starts no run more often",
    )
    is_stale = False

    @classmethod
    def of(cls, row: Row) -> "LayerForm":
        """Show what is set now."""
        layer = row.layer
        lines = (f"{one.table} {_STATIC}" if one.is_static else one.table for one in layer.sources)
        initial = {
            **msgspec.structs.asdict(layer),
            "sources": "\n".join(lines),
            "key": ", ".join(layer.key),
            "every_minutes": row.every_minutes,
            "on_commit": row.on_commit,
            "pause_minutes": row.pause_minutes,
            "version_read": row.version,
        }
        return cls(initial=initial)

    @property
    def status(self) -> int:
        """The HTTP status of the page that shows the form."""
        if not self.errors:
            return 200
        return 409 if self.is_stale else 400

    @property
    def timing(self) -> Timing:
        """When it is advanced."""
        data = self.cleaned_data
        pause = data["pause_minutes"] or PAUSE_MINUTES
        return Timing(data["every_minutes"], data["on_commit"], pause)

    def layer(self) -> Layer:
        """Return the definition.

        Raises:
            RuleViolation: `layer.definition`.
        """
        data = self.cleaned_data
        names = ("target", "sql", "function", "version", "partition", "event_time", "kind")
        return Layer(
            sources=tuple(map(_source, filter(None, map(str.strip, data["sources"].splitlines())))),
            key=tuple(data["key"].replace(",", " ").split()),
            lateness_minutes=data["lateness_minutes"],
            **{name: data[name].strip() for name in names},
        )

    def refuse(self, error: PortalError) -> None:
        """Say what is refused at the field that it lies in."""
        self.is_stale = isinstance(error, StaleState)
        field = str(error.fields.get("field", ""))
        self.add_error(field if field in _FIELDS else None, error.message)


class BackfillForm(forms.Form):
    """The first and the last partition of a backfill."""

    low = forms.CharField(max_length=256)
    high = forms.CharField(max_length=256)


def _source(line: str) -> Source:
    table, *words = line.split()
    if words not in ([], [_STATIC]):
        raise RuleViolation(
            "layer.definition",
            f"{line!r} is neither db.table nor db.table {_STATIC}.",
            field="sources",
        )
    return Source(table, is_static=bool(words))
