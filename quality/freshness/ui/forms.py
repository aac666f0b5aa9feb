"""Forms that declare a table's deadline and readiness rule."""

from typing import Any

from django import forms

from portal.lake.errors import PortalError
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.models import KEY_LENGTH
from quality.freshness.services.declaring import LONGEST_MINUTES, Declared
from quality.freshness.services.sources import named_once
from quality.models import FreshnessRule

_MINUTES: dict[str, Any] = {"min_value": 0, "max_value": LONGEST_MINUTES, "required": False}
_FIELD_OF = {
    "readiness.table": "table",
    "name.table": "table",
    "name.grammar": "table",
    "cadence.unpartitioned": "table",
    "cadence.key": "time_key",
    "cadence.hours": "hour_key",
    "readiness.sources": "source_tables",
}


class VersionedForm(forms.Form):
    """What is changed as of a version; `is_stale`: somebody else changed it since."""

    version = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)
    is_stale = False

    @property
    def status(self) -> int:
        """The HTTP status of the page that shows the form."""
        if not self.errors:
            return 200
        return 409 if self.is_stale else 400


class RuleForm(VersionedForm):
    """The cadence, the time and the rule of one table; what is left empty is not asked."""

    time_key = forms.CharField(
        label="Key of the time",
        max_length=KEY_LENGTH,
        initial="dt",
        help_text="the partition key that holds the day, or the day and the hour",
    )
    time_format = forms.ChoiceField(
        label="It is written as", choices=[(one.value, one.value) for one in TimeFormat]
    )
    hour_key = forms.CharField(
        label="Key of the hour",
        max_length=KEY_LENGTH,
        required=False,
        help_text="where hours have a key of their own (00 to 23); empty: one partition a day",
    )
    sla_minutes = forms.IntegerField(
        label="Ready at the latest, in minutes after its day or hour",
        help_text="what is later is shown on the page, and people are notified",
        **_MINUTES,
    )
    delay_minutes = forms.IntegerField(
        label="By rule: minutes after its day or hour",
        help_text="the flag is set to ready when the watermark (its end and this delay) is passed",
        **_MINUTES,
    )
    min_rows = forms.IntegerField(
        label="By rule: rows at least",
        min_value=1,
        max_value=10**15,
        required=False,
        help_text="as numRows in the metastore says; only where the job keeps statistics",
    )
    min_files = forms.IntegerField(
        label="By rule: files at least",
        min_value=1,
        max_value=10**9,
        required=False,
        help_text="as numFiles in the metastore says; all that the rule asks must hold",
    )
    source_tables = forms.CharField(
        label="By rule: captured tables that it is made of",
        max_length=4_000,
        required=False,
        help_text="db.table, with spaces between them; their pipelines must have applied the "
        "source's changes up to the end and the delay",
    )

    @classmethod
    def of(cls, rule: FreshnessRule) -> "RuleForm":
        """Show what is declared now."""
        names = [name for name in cls.base_fields if name != "table"]
        shown = {name: getattr(rule, name) for name in names}
        return cls(initial={**shown, "source_tables": " ".join(rule.source_tables)})

    def declared(self) -> Declared:
        """Return what was typed."""
        data = self.cleaned_data
        return Declared(
            data["time_key"].lower(),
            TimeFormat(data["time_format"]),
            data["hour_key"].lower(),
            data["sla_minutes"],
            data["delay_minutes"],
            data["min_rows"],
            data["min_files"],
            named_once(data["source_tables"].replace(",", " ").split()),
        )

    def refuse(self, error: PortalError) -> None:
        """Say what a rule refuses at the field that it lies in."""
        name = _FIELD_OF.get(error.code)
        self.add_error(name if name in self.fields else None, error.message)


class EndForm(forms.Form):
    """The version that was seen when somebody ended it."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class NewRuleForm(RuleForm):
    """The same of a table that is named."""

    table = forms.CharField(label="Table", max_length=512, help_text="db.table of a Hive table")
    field_order = ("table",)
