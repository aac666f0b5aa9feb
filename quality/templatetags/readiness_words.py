"""Template filter of minutes on the app's pages."""

from django import template

register = template.Library()


@register.filter
def minutes(value: int) -> str:
    """Say minutes as people do: 90 min, 6 h, 2 d."""
    for size, unit in ((24 * 60, "d"), (60, "h")):
        if value and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value} min"
