"""Template tags that render health, its losses, trends and estimates in words and pictures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from optimizer.core.domain.bands import band_of
from optimizer.core.domain.scoring import priority_of
from optimizer.core.models import MaintainedTable
from optimizer.core.selectors.table_health import FILES
from optimizer.core.ui.table_links import PART_NAMES, files_url, tasks_page
from optimizer.hudi.planner.domain.deciding import service_priority
from optimizer.iceberg.inspect.domain.health import whole_points
from optimizer.models import HealthPoint, OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.domain.words import changes, say
from optimizer.policies.selectors.scopes import ScopeRow
from optimizer.policies.services.preview import Move
from optimizer.removals.domain.words import RECOVERY
from optimizer.removals.ui.badges import RECOVERY_BADGES
from portal.lake.counts import count_words
from portal.ui.charts.sparklines import Spark, spark_of
from portal.ui.frame.states import badge_for
from portal.ui.tables.addresses import table_path
from portal.ui.templatetags.lw import NOTHING, human_bytes, human_span

register = template.Library()


@register.simple_tag(takes_context=True)
def part_path(context: Context, row: MaintainedTable, name: str) -> str:
    """Return the address of a part of a table's page: below the table's own, where it stands so."""
    if not context["frame"].get("subject"):
        return reverse(f"optimizer:{name}", args=[row.pk])
    return table_path(row.db, row.table, FILES, PART_NAMES[name])


@register.simple_tag
def files_page(row: MaintainedTable, name: str = "", **query: str) -> str:
    """Return the tab of a table's files, or one of its parts, on the page of the table."""
    return files_url(row, name, **query)


@register.filter
def band_state(health: float | None) -> str:
    """Return the state under which a score is shown."""
    return f"HEALTH_{band_of(health)}"


@register.filter
def band_tone(health: float | None) -> str:
    """Return the tone of a score; none for what is not known."""
    return badge_for(band_state(health)).tone


@register.filter
def spark(newest_first: Sequence[HealthPoint]) -> Spark | None:
    """Draw the health at the last looks, between 0 and 100."""
    points = [
        (f"{timezone.localtime(point.at):%Y-%m-%d %H:%M}", point.health)
        for point in reversed(newest_first)
    ]
    return spark_of(points, high=100.0)


@register.filter
def with_whole(deductions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return deductions with whole points (`whole`) that add up with the rounded score."""
    whole = whole_points([float(one.get("points", 0.0)) for one in deductions])
    return [{**one, "whole": n} for one, n in zip(deductions, whole, strict=True)]


@register.filter
def signed(change: int) -> str:
    """Show a change with its sign."""
    return f"{change:+,}"


@register.filter
def percent(share: float) -> str:
    """Show a share from 0 to 1."""
    return f"{share * 100:.0f} %"


@register.filter
def estimate_words(estimate: Mapping[str, Any]) -> list[str]:
    """Say what a task is expected to cost; nothing where nothing was estimated."""
    if not any(estimate.get(key) for key in ("n_files_read", "bytes_read", "seconds")):
        return []
    words = []
    n_read, n_written = estimate.get("n_files_read"), estimate.get("n_files_written")
    if n_read and n_written is not None:
        words.append(f"{n_read:,} → {n_written:,} files")
    if n_bytes := estimate.get("bytes_read"):
        words.append(human_bytes(n_bytes))
    if seconds := estimate.get("seconds"):
        words.append(f"about {human_span(seconds)}")
    return words


@register.filter
def priority(task: OptimizeTask) -> str:
    """Show how early a waiting task comes."""
    return str(priority_of(task.score) if task.table_id else service_priority(task.score))


@register.filter
def priority_reason(task: OptimizeTask) -> str:
    """Say what the priority of a task comes from."""
    if task.requested_by:
        return f"Requested by {task.requested_by}"
    if task.table_id is None:
        return "What holds other services up goes first, then what waits longest"
    return f"Gain over cost {task.score:,.0f}; tasks that wait longer move up"


@register.filter
def before_after(task: OptimizeTask) -> list[str]:
    """Say what a task changed, as far as its run told."""
    words = []
    for key, title, show in _CHANGES:
        was, now = task.before.get(key), task.after.get(key)
        if was is not None and now is not None and (was or now):
            words.append(f"{show(was)} → {show(now)}{title}")
    return words


@register.filter
def policy_values(row: PolicyVersion | ScopeRow) -> list[str]:
    """Say what a version sets."""
    settings = POLICY_SCHEMAS[TableFormat(row.format)].settings
    return [
        f"{title}: {say(name, row.values[name])}"
        for name, (title, _) in settings.items()
        if name in row.values
    ]


@register.filter
def policy_changes(row: PolicyVersion) -> list[str]:
    """Say what a version (with `before`) changed."""
    settings = POLICY_SCHEMAS[TableFormat(row.format)].settings
    return changes(getattr(row, "before", None) or {}, row.values, settings=settings)


@register.filter
def preview_words(move: Move) -> str:
    """Say what would change in how many tables."""
    tables = "1 table" if move.n_tables == 1 else f"{move.n_tables:,} tables"
    was, would_be = say(move.setting, move.was), say(move.setting, move.would_be)
    return f"{move.title} of {tables}: {was} → {would_be}"


@register.filter
def tasks_url(row: OptimizeTask | RemovalPlan) -> str:
    """Return the page of the tasks of the table that a row is about, of whichever format."""
    return tasks_page(row)


@register.filter
def removal_title(plan: RemovalPlan) -> str:
    """Say what a list would remove."""
    return plan.listed[0]


@register.filter
def removal_state(plan: RemovalPlan) -> str:
    """Give the state under which a list is shown: a list that brings rows back removes nothing."""
    recovered = f"RECOVERY_{plan.state}"
    is_recovery = plan.kind == RECOVERY
    return recovered if is_recovery and recovered in RECOVERY_BADGES else f"REMOVAL_{plan.state}"


@register.filter
def removal_items(plan: RemovalPlan) -> str:
    """Say how many of what stand on a list."""
    return count_words(plan.n_items, plan.listed[1])


@register.simple_tag
def nothing() -> SafeString:
    """Show that there is no value."""
    return NOTHING


def _counted(value: int) -> str:
    return f"{value:,}"


_CHANGES: tuple[tuple[str, str, Callable[[int], str]], ...] = (
    ("n_files", " files", _counted),
    ("n_bytes", "", human_bytes),
    ("n_delete_files", " delete files", _counted),
    ("n_snapshots", " snapshots", _counted),
    ("n_manifests", " manifests", _counted),
    ("n_statistics_columns", " columns with statistics", _counted),
)
