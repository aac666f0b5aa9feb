"""Keeps the old names of API fields for one release after they were renamed."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

from drf_spectacular.drainage import set_override
from rest_framework import serializers


class OldNames(serializers.Serializer[Any]):
    """A serializer that shows renamed fields by both names, and takes either in a request.

    `old_names` maps the old name to the new one. OpenAPI calls the old names deprecated. Where a
    request gives both, the new name counts.
    """

    old_names: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        set_override(cls, "deprecate_fields", list(cls.old_names))

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, and a read-only copy of each renamed one under its old name."""
        fields: dict[str, Any] = super().get_fields()
        for old, new in self.old_names.items():
            copy = deepcopy(fields[new])
            copy.source = copy.source or new
            copy.read_only, copy.required = True, False
            fields[old] = copy
        return fields

    def to_internal_value(self, data: Any) -> Any:
        """Read a request in which a field may have its old name."""
        if isinstance(data, Mapping):
            renamed = {
                new: data[old]
                for old, new in self.old_names.items()
                if old in data and new not in data
            }
            data = {**{key: data[key] for key in data}, **renamed} if renamed else data
        return super().to_internal_value(data)
