"""Asks how far the pipelines are of the tables that a rule's partitions are made of."""

from collections.abc import Iterable

from portal.access.lakes import get_lake
from portal.catalog.services.watermarks import Watermark, watermark_of
from portal.lake.errors import RuleViolation
from portal.lake.names import TableName
from quality.freshness.domain.ready_rule import Source
from quality.models import FreshnessRule


def sources_of(rule: FreshnessRule) -> list[Source]:
    """Return the tables that the rule names, and its own where a pipeline fills it."""
    lake = get_lake(rule.lake).lake
    own = watermark_of(rule.hive)
    found = [] if own is None else [_source(own)]
    for name in rule.source_tables:
        table = TableName.parse(lake, name)
        mark = watermark_of(table)
        gone = Source(str(table), None, "no pipeline fills it any more")
        found.append(gone if mark is None else _source(mark))
    return found


def check_fed(table: TableName) -> None:
    """Refuse a source that no pipeline fills.

    Raises:
        RuleViolation: `readiness.sources`.
    """
    if watermark_of(table) is None:
        raise RuleViolation(
            "readiness.sources",
            f"No pipeline fills {table}, so nobody can say how far it is.",
            table=str(table),
        )


def named_once(names: Iterable[str]) -> tuple[str, ...]:
    """Return names in lower case, each once, in the order in which they were given."""
    return tuple(dict.fromkeys(name.lower() for name in names))


def _source(mark: Watermark) -> Source:
    return Source(str(mark.table), mark.at, mark.reason)
