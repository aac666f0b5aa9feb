"""The form in which somebody declares a pipeline."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms

from pipelines.cdc.control.domain.spec import (
    MOST_SERVER_ID,
    ChangelogKind,
    PipelineSpec,
    TableType,
    partitions_of,
    protections_of,
    spec_of,
)
from pipelines.cdc.control.services.pipelines import fixed_of
from pipelines.models import Pipeline
from portal.access.lakes import all_lakes
from portal.lake.errors import RuleViolation

T = TypeVar("T")

_TYPES = (
    (TableType.MERGE_ON_READ.value, "Merge on read: changes are written fast"),
    (TableType.COPY_ON_WRITE.value, "Copy on write: tables are read fast"),
)
_CHANGELOGS = (
    (ChangelogKind.DIRECTORY.value, "Files of the lake"),
    (ChangelogKind.KAFKA.value, "Kafka"),
)


class ServerForm(forms.Form):
    """The server, the log-in and the tables: what can be changed later."""

    host = forms.CharField(label="Host", max_length=253, help_text="of the MySQL or MariaDB server")
    port = forms.IntegerField(label="Port", min_value=1, max_value=65535, initial=3306)
    user = forms.CharField(
        label="User",
        max_length=80,
        help_text="with REPLICATION SLAVE, REPLICATION CLIENT and SELECT on the tables",
        strip=False,
    )
    password_name = forms.CharField(
        label="Password",
        max_length=64,
        help_text="SHOP for the environment variable LAKEWARDEN_CDC_PASSWORD_SHOP of the capture",
    )
    ssl_ca = forms.CharField(
        label="Certificate of the server's signer",
        max_length=1024,
        required=False,
        help_text="absolute path of a PEM file; empty: without TLS",
    )
    server_id = forms.IntegerField(
        label="Server id",
        min_value=1,
        max_value=MOST_SERVER_ID,
        help_text="a number that no server and no other reader of its replication has",
    )
    patterns = forms.CharField(
        label="Tables",
        max_length=20_000,
        help_text="database.table, one a line; * stands for any signs: shop.*",
        widget=forms.Textarea(attrs={"rows": 4, "placeholder": "shop.*"}),
    )
    protections = forms.CharField(
        label="Protected columns",
        max_length=20_000,
        required=False,
        help_text="db.table.column = protection, one a line; a protection is encrypted:KEY, "
        "deterministic:KEY, hash:KEY, redact, show_first_4, show_last_4, year or nullify",
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "shop.users.phone = encrypted:PII"}),
    )
    partitions = forms.CharField(
        label="Partition columns",
        max_length=20_000,
        required=False,
        help_text="db.table = column, one a line; other tables are not partitioned",
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "shop.orders = created_on"}),
    )

    def clean_protections(self) -> dict[str, dict[str, str]]:
        """Read the lines."""
        return _read(protections_of, self.cleaned_data["protections"])

    def clean_partitions(self) -> dict[str, str]:
        """Read the lines."""
        return _read(partitions_of, self.cleaned_data["partitions"])


class PipelineForm(ServerForm):
    """All of a pipeline that is to be created."""

    name = forms.CharField(label="Name", max_length=32, help_text="a-z, 0-9 and -; it stays")
    lake = forms.ChoiceField(label="Lake")
    target_db = forms.CharField(
        label="Target database",
        max_length=128,
        help_text="the lake's database in which each captured table gets a Hudi table",
    )
    table_type = forms.ChoiceField(label="Kind of Hudi tables", choices=_TYPES)
    changelog = forms.ChoiceField(label="Changelog", choices=_CHANGELOGS)
    field_order = ("name", "lake")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        lake = self.fields["lake"]
        if isinstance(lake, forms.ChoiceField):
            lake.choices = [(name, name) for name in sorted(all_lakes())]

    def spec(self) -> PipelineSpec:
        """Return what was typed.

        Raises:
            RuleViolation: `pipeline.spec`, it is no pipeline.
        """
        return spec_of(self.cleaned_data)


class EditForm(ServerForm):
    """The same of a pipeline that is there, with the version that the page showed."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    @classmethod
    def of(cls, pipeline: Pipeline) -> "EditForm":
        """Show how it is now."""
        fields = ("host", "port", "user", "password_name", "ssl_ca", "server_id", "version")
        shown = {field: getattr(pipeline, field) for field in fields}
        protections = (
            f"{table}.{column} = {text}"
            for table, columns in sorted(pipeline.protections.items())
            for column, text in columns.items()
        )
        partitions = (f"{table} = {one}" for table, one in sorted(pipeline.partitions.items()))
        lines = {
            "patterns": pipeline.patterns,
            "protections": protections,
            "partitions": partitions,
        }
        return cls(initial={**shown, **{name: "\n".join(one) for name, one in lines.items()}})

    def spec(self, pipeline: Pipeline) -> PipelineSpec:
        """Return the pipeline with what was typed."""
        return spec_of({**fixed_of(pipeline), **self.cleaned_data})


def _read(how: Callable[[str], T], text: str) -> T:
    try:
        return how(text)
    except RuleViolation as error:
        raise forms.ValidationError(error.message) from error
