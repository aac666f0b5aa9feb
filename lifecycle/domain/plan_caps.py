"""How much may one plan take at most?

Counted before the first action, as an absolute number and as a share of the lake, so that a wrong
rule or a broken inventory cannot condemn everything.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanCaps:
    """Limits of one plan. The share counts only above `small` items, or tiny lakes could drop nothing."""

    max_items: int
    max_percent: int
    small: int = 100

    def problem(self, n_items: int, *, n_lake: int) -> str | None:
        """Say what is over the caps, or None."""
        if n_items > self.max_items:
            return f"{n_items} items are more than the {self.max_items} that one plan may hold."
        if n_items > self.small and n_items * 100 > n_lake * self.max_percent:
            return (
                f"{n_items} items are more than {self.max_percent} % of the lake's {n_lake} "
                "partitions and tables."
            )
        return None
