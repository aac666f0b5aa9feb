"""Why a definition is refused."""


class Refused(Exception):
    """A definition that cannot be kept incrementally: the clause and the reason."""

    def __init__(self, clause: str, reason: str) -> None:
        super().__init__(f"{clause}: {reason}.")
        self.clause = clause
        self.reason = reason
