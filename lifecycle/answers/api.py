"""API of answers for many tables at once, equivalent to the bar of Expiring data."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from lifecycle.answers.domain import DAYS_OFFERED, Answer, AnswerKind, Outcome
from lifecycle.answers.selectors.choosing import names_in_filter
from lifecycle.answers.services.bulk import Chosen, tables_answer
from lifecycle.answers.services.partitions import ChosenPartitions, partitions_answer
from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.ui.api.old_names import OldNames
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.serializers import ReasonSerializer


class AnswersParamsSerializer(ReasonSerializer):
    """One answer for `tables` (`db.table` each) or for all that `filter` matches.

    KEEP needs `days`, HAND_OVER needs `to`. A filter takes the fields of the list of tables and
    leaves out what is kept already or waits for somebody. With `seen_at`, the instant at which the
    caller read the list, a table of which more is due since, or that somebody answered since, is
    reported and not answered.
    """

    tables = serializers.ListField(
        child=serializers.CharField(max_length=385), required=False, default=list
    )
    filter = serializers.DictField(
        child=serializers.CharField(allow_blank=True), required=False, allow_null=True, default=None
    )
    answer = serializers.ChoiceField(choices=[one.value for one in AnswerKind])
    days = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=10**6,
        help_text=f"The page offers {', '.join(map(str, DAYS_OFFERED))}.",
    )  # fmt: skip
    to = serializers.CharField(max_length=128, required=False, allow_blank=True, default="")
    seen_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class TableAnswerSerializer(serializers.Serializer[Any]):
    """What came of the answer for one table."""

    db = serializers.CharField(read_only=True)
    table = serializers.CharField(read_only=True)
    outcome = serializers.ChoiceField(choices=[one.value for one in Outcome], read_only=True)
    code = serializers.CharField(read_only=True)
    message = serializers.CharField(read_only=True)
    until = serializers.DateField(read_only=True, allow_null=True)
    request = serializers.CharField(read_only=True, help_text="Id of the policy request, if any.")


class PartitionAnswersParamsSerializer(ReasonSerializer):
    """One answer for partitions of a table; KEEP needs `days`."""

    partitions = serializers.ListField(child=serializers.CharField(max_length=767))
    answer = serializers.ChoiceField(choices=[AnswerKind.KEEP.value, AnswerKind.LET_GO.value])
    days = serializers.IntegerField(required=False, default=0, min_value=0, max_value=10**6)
    seen_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class PartitionAnswerSerializer(serializers.Serializer[Any]):
    """What came of the answer for one partition."""

    partition = serializers.CharField(read_only=True)
    outcome = serializers.ChoiceField(choices=[one.value for one in Outcome], read_only=True)
    code = serializers.CharField(read_only=True)
    message = serializers.CharField(read_only=True)
    until = serializers.DateField(read_only=True, allow_null=True)
    request = serializers.CharField(read_only=True, help_text="Id of the policy request, if any.")


class PartitionResultsSerializer(serializers.Serializer[Any]):
    """The result in words and by partition."""

    words = serializers.CharField(read_only=True)
    answers = PartitionAnswerSerializer(many=True, read_only=True)


class AnswersSerializer(OldNames, serializers.Serializer[Any]):
    """The result in words and by table; more than 200 tables are answered by `run`."""

    old_names = {"told": "message"}

    message = serializers.CharField(read_only=True)
    n_done = serializers.IntegerField(read_only=True)
    n_waiting = serializers.IntegerField(read_only=True)
    n_refused = serializers.IntegerField(read_only=True)
    run = serializers.UUIDField(read_only=True, allow_null=True)
    answers = TableAnswerSerializer(many=True, read_only=True)


class Answers(ApiView):
    """Answers for many tables."""

    @operation(
        "answers_create", body=AnswersParamsSerializer, answer=AnswersSerializer, parameters=LAKE
    )
    def post(self) -> object:
        """Answer for many tables of yours at once, each by itself; the result names every table."""
        said, now = self.data, timezone.now()
        if bool(said["tables"]) == (said["filter"] is not None):
            raise RuleViolation("answers.choice", "Send either tables or a filter.")
        if said["filter"] is not None:
            names = names_in_filter(self.lake, said["filter"], user=self.user)
        else:
            parsed = [TableName.parse(LakeId(self.lake), one) for one in said["tables"]]
            names = [(one.db, one.table) for one in parsed]
        answer = Answer(
            AnswerKind(said["answer"]), said["reason"], said["days"], said["to"].strip()
        )
        chosen = Chosen(self.lake, names, said["seen_at"] or now)
        result, run = tables_answer(chosen, answer, user=self.user, now=now)
        return {
            "message": result.words if run is None else "The tables are being answered by a run.",
            "n_done": result.n_done,
            "n_waiting": result.n_waiting,
            "n_refused": result.n_refused,
            "run": run.pk if run else None,
            "answers": result.tables,
        }


class PartitionAnswers(ApiView):
    """Answers for many partitions of one table."""

    @operation(
        "partition_answers_create",
        body=PartitionAnswersParamsSerializer,
        answer=PartitionResultsSerializer,
        parameters=LAKE,
    )
    def post(self, db: str, table: str) -> object:
        """Keep partitions of a table some days more, or request their deletion, each by itself."""
        said, now = self.data, timezone.now()
        chosen = ChosenPartitions(self.lake, db, table, said["partitions"], said["seen_at"] or now)
        answer = Answer(AnswerKind(said["answer"]), said["reason"], said["days"])
        result = partitions_answer(chosen, answer, user=self.user, now=now)
        return {"words": result.words, "answers": result.tables}
