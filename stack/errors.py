"""What goes wrong in setting up and serving: each message says what failed and where to look."""


class StackError(RuntimeError):
    """A step of the set-up failed, or a server could not be started (then its log is named)."""
