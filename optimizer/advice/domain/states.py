"""What may become of an advice."""

from enum import StrEnum


class AdviceState(StrEnum):
    """Where an advice stands; of a table and subject one is open at most."""

    NEW = "NEW"
    APPLIED = "APPLIED"
    ROLLED_BACK = "ROLLED_BACK"
    DISMISSED = "DISMISSED"
    OUTDATED = "OUTDATED"
