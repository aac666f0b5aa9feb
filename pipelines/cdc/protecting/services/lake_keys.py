"""Says which keys of protected columns are a lake's: of several lakes, those that its entry names.

A deterministic text or a hash tells who may have any value protected by its key what the others
stand for. So nobody of one lake uses the keys of another (ADR 0087).
"""

from collections.abc import Iterable, Mapping

from pipelines.cdc.protecting.domain.protections import KEY_PREFIX, Protection
from portal.access.lakes import get_lake, several_lakes
from portal.lake.errors import RuleViolation


def keys_of_lake(lake: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of the environment that the programs of a lake get, by their variables."""
    return {
        name: text
        for name, text in environment.items()
        if name.startswith(KEY_PREFIX) and _is_of(lake, name.removeprefix(KEY_PREFIX))
    }


def check_keys(lake: str, protections: Iterable[Protection]) -> None:
    """Refuse keys that are not the lake's; whether there is such a key is not said.

    Raises:
        RuleViolation: `cdc.key_lake`.
    """
    for one in protections:
        if one.key and not _is_of(lake, one.key):
            raise RuleViolation(
                "cdc.key_lake",
                f"{one.key} is no key of the lake {lake}. Name one of the lake's keys, or have an "
                "operator of the portal's host add it to protection_keys of the lake in "
                "lakes.json.",
                key=one.key,
            )


def _is_of(lake: str, key: str) -> bool:
    return not several_lakes() or key in get_lake(lake).protection_keys
