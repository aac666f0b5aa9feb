"""The forms in which somebody declares a pipeline of topics."""

from django import forms

from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control.domain.spec import PipelineSpec, kafka_place, patterns_of, topics_spec
from pipelines.cdc.control.services.pipelines import fixed_of
from pipelines.cdc.control.ui.forms import TYPES, KafkaForm, LakeForm
from pipelines.models import Pipeline


class TopicsForm(KafkaForm):
    """The brokers, the log-in and the topics: what can be changed later."""

    patterns = forms.CharField(
        label="Topics",
        max_length=20_000,
        help_text="one a line; * stands for any signs: app.orders.*",
        widget=forms.Textarea(attrs={"rows": 4, "placeholder": "app.orders"}),
    )


class NewTopicsForm(LakeForm, TopicsForm):
    """All of a pipeline of topics that is to be created."""

    target_db = forms.CharField(
        label="Target database",
        max_length=128,
        help_text="the lake's database in which each topic gets a Hudi table",
    )
    table_type = forms.ChoiceField(label="Kind of Hudi tables", choices=TYPES)
    columns = forms.CharField(
        label="Columns",
        max_length=50_000,
        required=False,
        help_text="name and type a line, as amount decimal(12,2); empty: by a sample of the topic. "
        "kafka_timestamp timestamp, kafka_key string and kafka_headers string come of the record",
        widget=forms.Textarea(attrs={"rows": 8, "placeholder": "id bigint"}),
    )
    field_order = ("name", "lake", "kafka_servers", "patterns", "columns", "target_db")

    def place(self) -> tuple[KafkaPlace, tuple[str, ...]]:
        """Return where the topics are, and their patterns."""
        return kafka_place(self.kafka()), patterns_of(self.cleaned_data["patterns"])

    def with_columns(self, columns: tuple[Column, ...]) -> "NewTopicsForm":
        """Return the form with columns to be looked at."""
        text = "\n".join(f"{one.name} {one.type}" for one in columns)
        return NewTopicsForm({**{name: self.data[name] for name in self.data}, "columns": text})

    def spec(self) -> PipelineSpec:
        """Return what was typed.

        Raises:
            RuleViolation: `pipeline.spec`, it is no pipeline.
        """
        return topics_spec({**self.cleaned_data, "kafka": self.kafka()})


class EditTopicsForm(TopicsForm):
    """The same of a pipeline that is there, with the version that the page showed."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    field_order = ("kafka_servers", "patterns")

    @classmethod
    def of(cls, pipeline: Pipeline) -> "EditTopicsForm":
        """Show how it is now."""
        kafka = {f"kafka_{name}": text for name, text in pipeline.kafka.items()}
        patterns = "\n".join(pipeline.patterns)
        return cls(initial={**kafka, "patterns": patterns, "version": pipeline.version})

    def spec(self, pipeline: Pipeline) -> PipelineSpec:
        """Return the pipeline with what was typed."""
        return topics_spec({**fixed_of(pipeline), **self.cleaned_data, "kafka": self.kafka()})
