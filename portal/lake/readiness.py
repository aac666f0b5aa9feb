"""The one meaning of a partition's `commit` flag: whether its data is complete.

An absent flag means ready; only the word `false` (any case) means not ready yet.
"""

from collections.abc import Mapping

FLAG = "commit"
# The setting of a reader that hides what is not ready (jvm/ready-partitions); true shows it all.
SHOWS_ALL = "includeUnCommit"


def is_ready(parameters: Mapping[str, str]) -> bool:
    """Whether a partition with these parameters may be read by offline readers and acted on."""
    return parameters.get(FLAG, "true").strip().lower() != "false"


def marked(parameters: Mapping[str, str], *, ready: bool) -> dict[str, str] | None:
    """Return the parameters with the flag set, or None where they say so already."""
    if is_ready(parameters) is ready:
        return None
    return {**parameters, FLAG: "true" if ready else "false"}
