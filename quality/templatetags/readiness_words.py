"""Template filters of minutes and measured values on the app's pages."""

from django import template

register = template.Library()


@register.filter
def minutes(value: int) -> str:
    """Say minutes as people do: 90 min, 6 h, 2 d."""
    for size, unit in ((24 * 60, "d"), (60, "h")):
        if value and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value} min"


@register.filter
def figure(value: float | None) -> str:
    """Say a measured value or its bound as its result does: 155, 12,618.4, none."""
    if value is None:
        return "none"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
