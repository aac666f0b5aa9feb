"""The form in which somebody declares a pipeline."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms

from pipelines.cdc.changes.domain.kafka_place import MECHANISMS
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

TYPES = (
    (TableType.MERGE_ON_READ.value, "Merge on read: changes are written fast"),
    (TableType.COPY_ON_WRITE.value, "Copy on write: tables are read fast"),
)
_CHANGELOGS = (
    (ChangelogKind.DIRECTORY.value, "Files of the lake"),
    (ChangelogKind.KAFKA.value, "Kafka"),
)


_KAFKA = "kafka_"


class KafkaForm(forms.Form):
    """Where the topics of Kafka are, and the log-in there: what can be changed later."""

    kafka_servers = forms.CharField(
        label="Kafka: bootstrap servers",
        max_length=1000,
        required=False,
        help_text="host:port, several between commas; only where the changelog is in Kafka",
    )
    kafka_user = forms.CharField(
        label="Kafka: user",
        max_length=80,
        required=False,
        strip=False,
        help_text="of a log-in by SASL; empty: without one",
    )
    kafka_password_name = forms.CharField(
        label="Kafka: password",
        max_length=64,
        required=False,
        help_text="KAFKA for the file KAFKA of the passwords' folder, or the environment variable "
        "LAKEWARDEN_CDC_PASSWORD_KAFKA",
    )
    kafka_mechanism = forms.ChoiceField(
        label="Kafka: mechanism of the log-in",
        choices=[(one, one) for one in MECHANISMS],
        required=False,
    )
    kafka_ssl_ca = forms.CharField(
        label="Kafka: certificate of the brokers' signer",
        max_length=1024,
        required=False,
        help_text="absolute path of a PEM file; empty: without TLS",
    )

    def kafka(self) -> dict[str, str]:
        """Return what was typed of Kafka, as a pipeline keeps it."""
        return {
            name.removeprefix(_KAFKA): str(text)
            for name, text in self.cleaned_data.items()
            if name.startswith(_KAFKA)
        }


class ServerForm(KafkaForm):
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
        help_text="SHOP for the file SHOP of the passwords' folder, or the environment variable "
        "LAKEWARDEN_CDC_PASSWORD_SHOP of the capture",
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

    @property
    def shown(self) -> list[forms.BoundField]:
        """The fields that every pipeline has."""
        return [one for one in self.visible_fields() if not one.name.startswith(_KAFKA)]

    @property
    def folded(self) -> list[forms.BoundField]:
        """Those of a changelog in Kafka."""
        return [one for one in self.visible_fields() if one.name.startswith(_KAFKA)]

    @property
    def is_unfolded(self) -> bool:
        """Whether somebody chose Kafka, so that they have to be seen."""
        return bool(self["kafka_servers"].value()) or any(one.errors for one in self.folded)

    def clean_protections(self) -> dict[str, dict[str, str]]:
        """Read the lines."""
        return _read(protections_of, self.cleaned_data["protections"])

    def clean_partitions(self) -> dict[str, str]:
        """Read the lines."""
        return _read(partitions_of, self.cleaned_data["partitions"])


class LakeForm(forms.Form):
    """The name and the lake of a pipeline."""

    name = forms.CharField(label="Name", max_length=32, help_text="a-z, 0-9 and -; it stays")
    lake = forms.ChoiceField(label="Lake")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        lake = self.fields["lake"]
        if isinstance(lake, forms.ChoiceField):
            lake.choices = [(name, name) for name in sorted(all_lakes())]


class PipelineForm(LakeForm, ServerForm):
    """All of a pipeline that is to be created."""

    target_db = forms.CharField(
        label="Target database",
        max_length=128,
        help_text="the lake's database in which each captured table gets a Hudi table",
    )
    table_type = forms.ChoiceField(label="Kind of Hudi tables", choices=TYPES)
    changelog = forms.ChoiceField(label="Changelog", choices=_CHANGELOGS)
    kafka_topic = forms.CharField(
        label="Kafka: topic",
        max_length=200,
        required=False,
        help_text="of the changes; <topic>.headers and <topic>.schemas lie beside it",
    )
    field_order = (
        *("name", "lake", "host", "port", "user", "password_name", "ssl_ca", "server_id"),
        *("patterns", "protections", "partitions", "target_db", "table_type", "changelog"),
        *("kafka_servers", "kafka_topic"),
    )

    def spec(self) -> PipelineSpec:
        """Return what was typed.

        Raises:
            RuleViolation: `pipeline.spec`, it is no pipeline.
        """
        return spec_of({**self.cleaned_data, "kafka": self.kafka()})


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
        kafka = {f"{_KAFKA}{name}": text for name, text in pipeline.kafka.items()}
        texts = {name: "\n".join(one) for name, one in lines.items()}
        return cls(initial={**shown, **kafka, **texts})

    def spec(self, pipeline: Pipeline) -> PipelineSpec:
        """Return the pipeline with what was typed."""
        kafka = {**self.kafka(), "topic": pipeline.kafka.get("topic", "")}
        return spec_of({**fixed_of(pipeline), **self.cleaned_data, "kafka": kafka})


def _read(how: Callable[[str], T], text: str) -> T:
    try:
        return how(text)
    except RuleViolation as error:
        raise forms.ValidationError(error.message) from error
