"""Formats bytes, times, days, states and links. Human first, exact on hover."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.forms import BoundField
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.catalog.services.registry import OVERVIEW
from portal.lake.clock import from_epoch_seconds
from portal.lake.errors import NotVisible
from portal.runs.kinds.registry import get_kind
from portal.ui.charts.figures import Chart
from portal.ui.frame.states import badge_for
from portal.ui.lists.tables import Cell, Table
from portal.ui.tables.addresses import table_url

register = template.Library()

ZERO = format_html('<span class="lw-none" title="{}">{}</span>', "0", "—")
NOTHING = format_html('<span class="lw-none" title="{}">{}</span>', "no value", "—")
_YEAR, _MONTH, _DAY = 31_557_600, 2_629_800, 86_400
_STEPS = (("y", _YEAR), ("mo", _MONTH), ("d", _DAY), ("h", 3_600), ("min", 60))
_RUN = re.compile(r"\brun ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
# Text that ends no element, attribute or string, and is the same JSON.
_INERT = {ord(sign): f"\\u{ord(sign):04X}" for sign in "<>&'"}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


@register.filter
def count(value: int | None) -> str:
    """Show a number with thin thousands separators."""
    return NOTHING if value is None else f"{int(value):,}"


def human_bytes(value: int) -> str:
    """Spell a size with three digits at most, in powers of 1024 and by their names."""
    size, unit = float(value), 0
    while abs(size) >= 999.5 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return (
        f"{size:.0f} {_UNITS[unit]}" if unit == 0 or size >= 99.95 else f"{size:.1f} {_UNITS[unit]}"
    )


@register.filter(name="bytes")
def bytes_(value: int | None) -> SafeString:
    """Show a size; the exact number on hover."""
    if value is None:
        return NOTHING
    exact = int(value)
    return format_html(
        '<data class="lw-bytes" value="{}" title="{} bytes">{}</data>',
        exact,
        f"{exact:,}",
        human_bytes(exact),
    )


@register.filter
def svg(value: float) -> str:
    """Show a coordinate, whatever the language of the page."""
    return f"{value:.1f}"


@register.filter
def from_ms(value: int | None) -> datetime | None:
    """Read epoch milliseconds, as files and the scan give them."""
    return None if value is None else from_epoch_seconds(value / 1000)


def human_span(seconds: float) -> str:
    """Spell a length of time by its largest unit."""
    for word, length in _STEPS:
        if seconds >= length:
            return f"{int(seconds // length)} {word}"
    return f"{int(seconds)} s"


@register.filter
def span(seconds: float | None) -> str:
    """Show a length of time."""
    return NOTHING if seconds is None else human_span(seconds)


@register.filter
def kind_title(name: str) -> str:
    """Return the title of a kind of run; its name where the kind is gone."""
    try:
        return get_kind(name).title
    except NotVisible:
        return name


@register.filter
def with_runs(text: str) -> SafeString:
    """Show words with each run that they name as a short link to its page."""
    words = _RUN.split(text)  # words and numbers of runs in turn
    return format_html_join(
        "", "{}", ((_run_link(w) if n % 2 else w,) for n, w in enumerate(words))
    )


def _run_link(run: str) -> SafeString:
    return format_html('<a href="{}">run {}</a>', reverse("ui:run", args=[run]), run[:8])


# As JSON has it, with its zone: results are kept as JSON.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00|Z)")


@register.filter
def fact(value: Any) -> str:
    """Show a plain value of a result: whole numbers with separators, instants as elsewhere."""
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        with suppress(ValueError):
            return instant(datetime.fromisoformat(value))
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value)
    return f"{value:,}"


@register.filter
def ago(value: datetime | None) -> SafeString:
    """Show an instant relative to now; exact UTC and local time on hover."""
    if value is None:
        return NOTHING
    now = timezone.now()
    seconds = (now - value).total_seconds()
    if abs(seconds) < 5:
        text = "just now"
    else:
        span = _distance(value, now)
        text = f"{span} ago" if seconds > 0 else f"in {span}"
    return _time(value, text, kind="lw-ago")


def _distance(value: datetime, now: datetime) -> str:
    """Spell how far an instant is from now; days by the local calendar, as the dates beside it.

    Months and years to come are rounded to the nearest: a purge in 89.9 days is 3 months away.
    """
    seconds = abs((value - now).total_seconds())
    if _DAY <= seconds < _MONTH:
        days = abs((timezone.localdate(value) - timezone.localdate(now)).days)
        return f"{max(days, 1)} d"  # a day of 25 hours may hold both
    if value > now and seconds >= _MONTH:
        word, length = ("mo", _MONTH) if seconds < _YEAR else ("y", _YEAR)
        return f"{round(seconds / length)} {word}"
    return human_span(seconds)


@register.filter
def instant(value: datetime | None) -> SafeString:
    """Show an instant in the lake's time; UTC on hover."""
    if value is None:
        return NOTHING
    return _time(value, f"{timezone.localtime(value):%Y-%m-%d %H:%M:%S}")


def _time(value: datetime, text: str, *, kind: str = "") -> SafeString:
    exact = value.astimezone(UTC)
    local = timezone.localtime(value)
    return format_html(
        '<time class="lw-time{}" datetime="{}" title="{} UTC · {} {}">{}</time>',
        f" {kind}" if kind else "",
        exact.isoformat(timespec="seconds"),
        f"{exact:%Y-%m-%d %H:%M:%S}",
        f"{local:%Y-%m-%d %H:%M:%S}",
        timezone.get_current_timezone_name(),
        text,
    )


@register.filter
def day(value: date | None) -> SafeString:
    """Show a day of the lake's calendar."""
    if value is None:
        return NOTHING
    return format_html(
        '<time class="lw-time" datetime="{0}" title="{0}">{0}</time>', f"{value:%Y-%m-%d}"
    )


@register.filter
def due(value: date | None) -> SafeString:
    """Show a due day as `in 5 days`, `today` or `5 days overdue`; the day on hover."""
    if value is None:
        return NOTHING
    days = (value - timezone.localdate()).days
    unit = "day" if abs(days) == 1 else "days"
    text = (
        "today" if days == 0 else f"in {days:,} {unit}" if days > 0 else f"{-days:,} {unit} overdue"
    )
    return format_html(
        '<time class="lw-time{}" datetime="{}" title="{}">{}</time>',
        " lw-overdue" if days < 0 else "",
        f"{value:%Y-%m-%d}",
        f"{value:%Y-%m-%d}",
        text,
    )


@register.simple_tag
def icon(name: str) -> SafeString:
    """Show an icon that a screen reader skips."""
    return format_html('<i class="ti ti-{}" aria-hidden="true"></i>', name)


@register.simple_tag
def state_badge(state: str) -> SafeString:
    """Show a state by icon, word and colour."""
    look = badge_for(str(state))
    return format_html(
        '<span class="lw-state lw-{}" title="{}">{}{}</span>',
        look.tone,
        look.help or look.word,
        icon(look.icon),
        look.word,
    )


@register.filter
def pairs(value: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Return the pairs of a mapping; `value.items` would look for a key named `items` first."""
    return list((value or {}).items())


@register.filter
def state_word(state: str) -> str:
    """Return the word of a state, for text and option lists."""
    return badge_for(str(state)).word


@register.simple_tag
def table_page(lake: str, db: str, table: str, key: str = OVERVIEW) -> str:
    """Return the page of a table, or one of its tabs."""
    return table_url(lake, db, table, key)


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: object) -> str:
    """Return this page's query string with changes; an empty value takes the key out.

    A change of filter or order starts the list again, so cursors fall out unless they are set here.
    """
    params = context["request"].GET.copy()
    for cursor in ("after", "before"):
        params.pop(cursor, None)
    for key, value in changes.items():
        params.pop(key, None)
        if value not in ("", None):
            params[key] = str(value)
    text = params.urlencode()
    return f"?{text}" if text else "?"


@register.simple_tag(takes_context=True)
def sort_url(context: Context, table: Table, name: str) -> str:
    """Return the link that sorts by a column, or the other way round if it does already."""
    flipped = f"-{name}"
    if name not in table.orders:
        return query(context, sort=flipped)
    other = table.sort == name and flipped in table.orders
    return query(context, sort=flipped if other else name)


@register.simple_tag(takes_context=True)
def cell(context: Context, cell: Cell) -> SafeString | str:
    """Show one cell of a table by its column's kind."""
    if cell.column.is_zero_blank and cell.value == 0:
        return ZERO
    shown = _shown(context, cell)
    if cell.url and cell.column.kind != "template":
        return format_html('<a href="{}">{}</a>', cell.url, shown)
    return shown


def _shown(context: Context, cell: Cell) -> SafeString | str:
    if cell.column.kind == "template":
        # Not with the request: its context processors would ask the database for every cell.
        values = {name: context.get(name) for name in ("request", "frame", "user", "csrf_token")}
        values |= {"row": cell.row, "value": cell.value}
        # Stripped: an empty cell is left out of the cards of a phone.
        return SafeString(render_to_string(cell.column.template, values).strip())
    if cell.value is None or cell.value == "":
        return NOTHING
    if cell.column.kind == "code":
        return format_html("<code>{}</code>", cell.value)
    show: dict[str, Callable[[Any], str]] = {
        "count": count,
        "bytes": bytes_,
        "ago": ago,
        "day": day,
        "state": state_badge,
    }
    shower = show.get(cell.column.kind)
    return shower(cell.value) if shower else format_html("{}", cell.value)


@register.inclusion_tag("ui/_chart.html")
def chart(chart: Chart) -> Mapping[str, Any]:
    """Show a chart with its data table; without JavaScript the table alone."""
    payload = json.dumps({"figure": chart.figure, "unit": chart.unit}, cls=DjangoJSONEncoder)
    return {"chart": chart, "payload": SafeString(payload.translate(_INERT))}


@register.simple_tag
def control(field: BoundField, **attrs: str) -> SafeString:
    """Show a form field's control in the kit's look (the label is the template's)."""
    kind = getattr(field.field.widget, "input_type", "")
    css = {"select": "form-select", "checkbox": "form-check-input"}.get(kind, "form-control")
    if field.errors:
        css += " is-invalid"
    return field.as_widget(attrs={"class": css, **attrs})


@register.filter
def unit_value(value: Any, unit: str) -> Any:
    """Show a number of a chart's table in its unit."""
    if isinstance(value, str):
        return value
    if unit == "seconds" and value is not None:
        return f"{value:,.1f}"
    return bytes_(value) if unit == "bytes" else count(value)
