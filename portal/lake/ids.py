"""Identity of a lake: the first part of every name and key, because a portal may govern several."""

import re
from dataclasses import dataclass

from portal.lake.errors import RuleViolation

_SLUG = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")


@dataclass(frozen=True, slots=True, order=True)
class LakeId:
    """The short name of one metastore with its file systems, for example `main`."""

    value: str

    def __post_init__(self) -> None:
        if not _SLUG.match(self.value):
            raise RuleViolation(
                "lake.name",
                f"'{self.value}' is not a lake name. Use 1-32 of a-z, 0-9 and -, a letter first.",
                value=self.value,
            )

    def __str__(self) -> str:
        return self.value
