"""The lake in a body of the API, which may be left out only where one is governed."""

from typing import Any

from rest_framework import serializers

from portal.access.lakes import only_lake


class LakeField(serializers.CharField):
    """The name of a lake; the only one where it is left out."""

    def __init__(self, **options: Any) -> None:
        said = {"help_text": "may be left out where one lake is governed", "max_length": 32}
        super().__init__(**{"required": False, **said, **options})

    def get_default(self) -> str:
        """Return the only lake.

        Raises:
            PortalError: there is none or more than one.
        """
        return only_lake()
