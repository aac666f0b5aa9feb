"""API field for partition names. A name is taken as it is: a space at its end belongs to it."""

from typing import Any

from rest_framework import serializers

LONGEST = 767


class PartitionField(serializers.CharField):
    """A partition as Hive names it, or nothing for the whole table."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("allow_blank", True)
        super().__init__(max_length=LONGEST, trim_whitespace=False, **kwargs)
