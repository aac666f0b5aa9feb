"""Registry of the gauges that apps add to `/metrics`. Apps register them in `AppConfig.ready()`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Sample = tuple[dict[str, str], float]


@dataclass(frozen=True, slots=True)
class Gauge:
    """One family of numbers; `samples` is asked at every read and must be cheap."""

    name: str
    help_text: str
    samples: Callable[[], Iterable[Sample]]


_gauges: dict[str, Gauge] = {}


def register_gauge(gauge: Gauge) -> None:
    """Add a gauge; registering a name again replaces it."""
    _gauges[gauge.name] = gauge


def all_gauges() -> list[Gauge]:
    """Return every gauge, by name."""
    return [_gauges[name] for name in sorted(_gauges)]
