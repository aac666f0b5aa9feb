"""Reads of a PromQL expression which numbers and labels it names, and compares with /metrics."""

import re
from collections.abc import Iterator

from portal import request_metrics
from portal.metrics import gauges

_SELECTOR = re.compile(r"\b(lakewarden_\w+|up)\b(?:\{([^}]*)\})?")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
_BY = re.compile(r"\bby\s*\(([^)]*)\)")


def given() -> dict[str, set[str]]:
    """Return every number that a Prometheus server has of the portal, with its labels."""
    found = {f"lakewarden_{gauge.name}": set(gauge.labels) for gauge in gauges()}
    name, labels = request_metrics.NAME, set(request_metrics.LABELS)
    found |= {f"{name}_count": labels, f"{name}_sum": labels, f"{name}_bucket": labels | {"le"}}
    return {**found, "up": {"job", "instance"}}


def grouped_by(expression: str) -> set[str]:
    """Return the labels that an expression keeps."""
    found = _BY.findall(expression)
    return {label.strip() for part in found for label in part.split(",") if label.strip()}


def names(expression: str) -> set[str]:
    """Return the numbers that an expression names."""
    return {name for name, _ in _SELECTOR.findall(expression)}


def problems(expression: str) -> Iterator[str]:
    """Yield what an expression names and /metrics does not have."""
    known = given()
    used = _SELECTOR.findall(expression)
    if not used:
        yield f"{expression}: names no number"
    for name, matchers in used:
        if name not in known:
            yield f"{name} is not given"
            continue
        asked = set(_MATCHER.findall(matchers)) | grouped_by(expression)
        if asked - known[name]:
            yield f"{name} has no label {sorted(asked - known[name])}"
