"""Says a number of things, in the singular for one. Templates have Django's `pluralize`."""


def count_words(n: int, one: str, *, many: str | None = None) -> str:
    """Return `1 table`, `2 tables`, `1,000 tables`; `many` where the plural has another ending."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
