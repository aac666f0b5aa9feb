"""Renamed API fields keep their old names for one release."""

from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from rest_framework import serializers

from lifecycle.drop.api.serializers import DeletionRequestParamsSerializer
from optimizer.models import Commit
from portal.ui.api.old_names import OldNames

AT = datetime(2026, 11, 25, tzinfo=UTC)


class CommitSerializer(OldNames, serializers.ModelSerializer[Commit]):
    """One field of a row, renamed."""

    old_names: ClassVar = {"heard_at": "event_at"}

    class Meta:
        model = Commit
        fields = ("event_at",)


class HoursSerializer(OldNames, serializers.Serializer[Any]):
    """One field of a request, renamed."""

    old_names: ClassVar = {"giants_hours": "large_table_window"}
    large_table_window = serializers.CharField(max_length=5)


def test_a_renamed_field_is_shown_by_both_names() -> None:
    assert CommitSerializer(Commit(event_at=AT)).data == {
        "event_at": "2026-11-25T00:00:00Z",
        "heard_at": "2026-11-25T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"large_table_window": "01-05"}, "01-05"),
        ({"giants_hours": "01-05"}, "01-05"),
        ({"giants_hours": "01-05", "large_table_window": "02-06"}, "02-06"),
    ],
)
def test_a_request_may_use_either_name_and_the_new_one_counts(
    sent: dict[str, str], taken: str
) -> None:
    asked = HoursSerializer(data=sent)
    assert asked.is_valid()
    assert asked.validated_data == {"large_table_window": taken}


def test_a_bad_value_by_the_old_name_is_refused_by_the_new_names_rule() -> None:
    asked = HoursSerializer(data={"giants_hours": "at night"})
    assert not asked.is_valid()
    assert set(asked.errors) == {"large_table_window"}


def test_a_deletion_request_of_an_older_program_still_lets_recently_read_data_go() -> None:
    fields = DeletionRequestParamsSerializer().get_fields()
    assert {"with_still_read", "with_recently_read"} <= set(fields)
    assert fields["with_still_read"].read_only
