"""Groups holds that are alike, so that a page says once what a restore does to each partition."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, IntegerField, Max, Min, QuerySet, Value, When

from lifecycle.backup.models import Hold


@dataclass(frozen=True, slots=True)
class HoldGroup:
    """Holds that one person placed for one reason until one instant: on a whole, or on partitions.

    `table` is empty for a hold on the whole database; `first` to `last` are the partitions' names.
    """

    table: str
    n_partitions: int
    first: str
    last: str
    until: datetime | None
    placed_by: str
    reason: str

    @property
    def what(self) -> str:
        """The partitions in words; empty for the whole."""
        if self.n_partitions < 2:
            return self.first
        return f"{self.n_partitions:,} partitions, {self.first} to {self.last},"


def grouped(holds: QuerySet[Hold], *, at_most: int) -> list[HoldGroup]:
    """Return holds by person, reason and end; a restore alone places one on each partition."""
    alike = ("table", "until", "placed_by", "reason")
    marked = holds.annotate(
        is_part=Case(When(partition="", then=Value(0)), default=1, output_field=IntegerField())
    )
    groups = (
        marked.order_by()
        .values("is_part", *alike)
        .annotate(
            n=Count("pk"), first=Min("partition"), last=Max("partition"), newest=Max("placed_at")
        )
    )
    return [
        HoldGroup(
            n_partitions=row["n"] if row["is_part"] else 0,
            first=row["first"],
            last=row["last"],
            **{key: row[key] for key in alike},
        )
        for row in groups.order_by("is_part", "-newest")[:at_most]
    ]
