"""Counts and times the answers of all processes of a site, for `/metrics`.

Each process writes its numbers to a file below PROMETHEUS_MULTIPROC_DIR, and any of them can read
the sum. Without that folder (tests, `manage.py runserver`) a process knows its own only.
"""

import os
from typing import Any

import prometheus_client
from prometheus_client import CollectorRegistry, Histogram, generate_latest, multiprocess

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
NAME = "lakewarden_http_request_seconds"
LABELS = ("area", "status")

_untyped: Any = prometheus_client
_untyped.disable_created_metrics()
_registry = CollectorRegistry()
_seconds = Histogram(
    NAME,
    "Seconds until an answer, by area of the site and class of status.",
    LABELS,
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=_registry,
)


def request_observe(area: str, status: int, seconds: float) -> None:
    """Count one answer; `area` must be one of a bounded set."""
    _seconds.labels(area, f"{status // 100}xx").observe(seconds)


def request_metrics() -> str:
    """Return the numbers in Prometheus' text form, summed over the processes where they share."""
    registry = _registry
    if os.environ.get(FOLDER):
        registry = CollectorRegistry()
        collector: Any = multiprocess
        collector.MultiProcessCollector(registry)
    return generate_latest(registry).decode()
