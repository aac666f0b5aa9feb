"""Registry of the gauges that apps add to `/metrics`. Apps register them in `AppConfig.ready()`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Sample = tuple[dict[str, str], float]


@dataclass(frozen=True, slots=True)
class Gauge:
    """One family of numbers; `samples` is asked at every read and must be cheap.

    Each sample has the labels that are named here; none is of a set that grows, as tables are.
    """

    name: str
    help_text: str
    samples: Callable[[], Iterable[Sample]]
    labels: tuple[str, ...] = ()


_gauges: dict[str, Gauge] = {}


def register_gauge(gauge: Gauge) -> None:
    """Add a gauge; registering a name again replaces it."""
    _gauges[gauge.name] = gauge


def all_gauges() -> list[Gauge]:
    """Return every gauge, by name."""
    return [_gauges[name] for name in sorted(_gauges)]
