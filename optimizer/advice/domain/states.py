"""What may become of an advice, and of its trial on a branch."""

from enum import StrEnum


class AdviceState(StrEnum):
    """Where an advice stands; of a table and subject one is open at most."""

    NEW = "NEW"
    APPLIED = "APPLIED"
    ROLLED_BACK = "ROLLED_BACK"
    DISMISSED = "DISMISSED"
    OUTDATED = "OUTDATED"


class TrialState(StrEnum):
    """Where a trial stands; the middle three are the decisions of `paired`."""

    RUNNING = "RUNNING"
    KEEP = "KEEP"
    ROLL_BACK = "ROLL_BACK"
    UNSURE = "UNSURE"
    FAILED = "FAILED"
