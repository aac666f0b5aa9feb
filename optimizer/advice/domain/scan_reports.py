"""Reads Iceberg's ScanReports: how a table was filtered, and what its planning left out.

Any engine that posts metrics reports sends them. Iceberg has replaced the constants by their kind
or hash before; none is read here either.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optimizer.advice.domain.filters import Filter, FilterKind, either, is_name, negated
from portal.lake.errors import RuleViolation

MOST_DEPTH = 200
MOST_PARTS = 2_000

_KINDS = {
    "eq": FilterKind.EQUAL,
    "in": FilterKind.IN,
    **dict.fromkeys(("lt", "lt-eq", "gt", "gt-eq"), FilterKind.RANGE),
    "starts-with": FilterKind.PREFIX,
    **dict.fromkeys(("is-null", "not-null"), FilterKind.NULL),
    **dict.fromkeys(("not-eq", "not-in", "not-starts-with", "is-nan", "not-nan"), FilterKind.OTHER),
}
_TIMES = ("year", "month", "day", "hour")


@dataclass(frozen=True, slots=True)
class Scanned:
    """One planned scan; numbers that the engine did not tell are 0."""

    filters: tuple[Filter, ...]
    n_files: int
    n_skipped: int
    n_bytes: int
    engine: str
    """Its name, empty where it does not say."""


def read_scan(report: Mapping[str, Any]) -> Scanned:
    """Read a ScanReport as Iceberg's ScanReportParser writes it.

    `n_skipped` counts files of the manifests that were read; what whole manifests left out is in
    none of Iceberg's counters.

    Raises:
        RuleViolation: `advice.report`.
    """
    metadata = report.get("metadata")
    engine = metadata.get("engine-name", "") if isinstance(metadata, Mapping) else ""
    metrics = report.get("metrics")
    counters: Mapping[str, Any] = metrics if isinstance(metrics, Mapping) else {}
    filters = _Expression().filters(report.get("filter", True))
    return Scanned(
        tuple(dict.fromkeys(one for _, one in filters)),
        _counter(counters, "result-data-files"),
        _counter(counters, "skipped-data-files"),
        _counter(counters, "total-file-size-in-bytes"),
        str(engine)[:40],
    )


class _Expression:
    """Reads an expression of ExpressionParser's JSON within limits."""

    def __init__(self) -> None:
        self._n_parts = 0

    def filters(self, node: object, depth: int = 0) -> list[tuple[int, Filter]]:
        self._n_parts += 1
        if depth > MOST_DEPTH or self._n_parts > MOST_PARTS:
            raise _refused(f"has more than {MOST_DEPTH} levels or {MOST_PARTS} parts")
        if isinstance(node, bool) or node in ("true", "false"):
            return []
        if not isinstance(node, Mapping):
            raise _refused(f"holds {str(node)[:40]!r} where a condition belongs")
        kind = node.get("type")
        if kind == "literal":
            return []
        if kind == "and":
            return [*self._part(node, "left", depth), *self._part(node, "right", depth)]
        if kind == "or":
            return either(self._branches(node, depth))
        if kind == "not":
            return negated(self._part(node, "child", depth))
        if not isinstance(kind, str) or kind not in _KINDS:
            raise _refused(f"has a condition of the unknown type {str(kind)[:40]!r}")
        return [(0, _on_term(node.get("term"), _KINDS[kind]))]

    def _part(self, node: Mapping[str, Any], name: str, depth: int) -> list[tuple[int, Filter]]:
        return self.filters(node.get(name), depth + 1)

    def _branches(self, node: Mapping[str, Any], depth: int) -> list[list[tuple[int, Filter]]]:
        """Return the parts of an OR of ORs, which Iceberg nests to the left."""
        found: list[list[tuple[int, Filter]]] = []
        for name in ("left", "right"):
            part = node.get(name)
            if isinstance(part, Mapping) and part.get("type") == "or" and depth < MOST_DEPTH:
                found += self._branches(part, depth + 1)
            else:
                found.append(self.filters(part, depth + 1))
        return found


def _on_term(term: object, kind: FilterKind) -> Filter:
    """Return the filter of a column, or of a transform of one."""
    if isinstance(term, Mapping):
        transform = str(term.get("transform", ""))
        if transform.partition("[")[0] in _TIMES:
            kind = FilterKind.RANGE if kind is not FilterKind.NULL else kind
        elif transform and not transform.startswith(("bucket", "identity")):
            kind = FilterKind.OTHER
        term = term.get("term")
    if not isinstance(term, str) or not term or not is_name(term):
        raise _refused("names no column in a condition")
    return Filter(term.lower(), kind)


def _counter(counters: Mapping[str, Any], name: str) -> int:
    one = counters.get(name)
    value = one.get("value") if isinstance(one, Mapping) else None
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if is_count and value is not None else 0


def _refused(what: str) -> RuleViolation:
    return RuleViolation(
        "advice.report",
        f"The filter of this scan-report {what}. Send it as Iceberg's ScanReportParser writes it.",
    )
