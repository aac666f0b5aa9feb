"""The filter of the list of tables, for its page, its API and its bulk actions."""

from typing import Any

import django_filters as filters
from django.db.models import QuerySet

from portal.access.visibility import answered_by
from portal.catalog.domain.health import HealthLevel
from portal.catalog.models import Table
from portal.catalog.selectors import OWNERS, has_part
from portal.catalog.services.registry import health_parts
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter


def level_choices() -> list[tuple[str, str]]:
    """Return the levels in words, the worst first."""
    return [
        (level.name, badge_for(f"TABLE_{level.name}").word)
        for level in sorted(HealthLevel, reverse=True)
    ]


def part_choices() -> list[tuple[str, str]]:
    """Return the parts of health that areas register."""
    return [(part.key, part.title) for part in health_parts()]


class TableFilter(ListFilter):
    """Tables by database, name, format, owner, and health: of the whole table, or of one part."""

    level = filters.ChoiceFilter(
        choices=level_choices, label="Health", empty_label="Any", method="filter_level"
    )
    part = filters.ChoiceFilter(
        choices=part_choices,
        label="Because of",
        empty_label="Any part",
        method="filter_part",
        help_text="The level above is then of this part; without one, whatever is not in order.",
    )
    db = filters.CharFilter(label="Database")
    name = filters.CharFilter(lookup_expr="contains", label="Table contains")
    table_format = filters.CharFilter(field_name="format", label="Format")
    owner = filters.CharFilter(label="Owner")
    person = filters.CharFilter(label="Responsible", method="filter_person")

    class Meta:
        model = Table
        fields: list[str] = []

    def filter_level(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables of this level, unless the level of one part is asked for."""
        if self.form.cleaned_data.get("part"):
            return rows
        return rows.filter(level=HealthLevel[value])

    def filter_part(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables of which this part has the level, or is not in order."""
        level = self.form.cleaned_data.get("level")
        return rows.filter(has_part(value, HealthLevel[level] if level else None))

    def filter_person(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep what one person answers for, whoever is looking."""
        return rows.filter(answered_by(value, owners=OWNERS))
