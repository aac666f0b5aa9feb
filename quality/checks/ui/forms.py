"""Forms of a check set: its YAML document with how often it is measured, and checks of Soda."""

from django import forms

from portal.lake.errors import PortalError
from quality.checks.domain.documents import LARGEST_DOCUMENT, write_document
from quality.checks.models import EVERY_MINUTES
from quality.checks.services.declaring import LEAST_MINUTES, MOST_MINUTES
from quality.freshness.ui.forms import VersionedForm
from quality.models import CheckSet

STARTING = """table: {table}
partition_key: dt
rules:
  - metric: row_count
    min: 1
    severity: block
"""


class CheckSetForm(VersionedForm):
    """The rules of one table."""

    document = forms.CharField(
        label="Rules (YAML)",
        max_length=LARGEST_DOCUMENT,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false"}),
        help_text="table, partition_key and rules; the documentation lists the metrics",
    )
    every_minutes = forms.IntegerField(
        label="Measured every (minutes)",
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        initial=EVERY_MINUTES,
        help_text="partitions that wait to become ready, and the newest three",
    )
    on_commit = forms.BooleanField(
        label="Also soon after a commit of the table",
        required=False,
        help_text=f"at most every {LEAST_MINUTES} minutes; of Iceberg and Hudi tables",
    )

    @classmethod
    def of(cls, row: CheckSet) -> "CheckSetForm":
        """Show what is set now."""
        return cls(
            initial={
                "document": write_document(row.checks),
                "every_minutes": row.every_minutes,
                "on_commit": row.on_commit,
                "version": row.version,
            }
        )

    def refuse(self, error: PortalError) -> None:
        """Say what is refused at the field that it lies in."""
        name = "every_minutes" if error.code == "checks.every" else "document"
        self.add_error(None if self.is_stale else name, error.message)


class SodaForm(forms.Form):
    """Checks in Soda's form, and what it does not say of their table."""

    soda = forms.CharField(
        label="Checks (SodaCL)",
        max_length=LARGEST_DOCUMENT,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false"}),
        help_text="checks for one table",
    )
    db = forms.CharField(
        label="Database",
        max_length=128,
        required=False,
        help_text="where the checks name the table alone",
    )
    partition_key = forms.CharField(
        label="Partition key",
        max_length=128,
        required=False,
        help_text="each of its values becomes a window; empty: the whole table is one",
    )
