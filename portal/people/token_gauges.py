"""Gauges of API tokens for `/metrics`: their number, and which jobs stop soon."""

from collections.abc import Iterator

from django.db.models import Count
from django.utils import timezone

from portal.access.gauges import Gauge, Sample, register_gauge
from portal.people.selectors import tokens_at
from portal.people.token_rules import SOON, TokenState


def register_token_gauges() -> None:
    """Add the gauges."""
    register_gauge(Gauge("api_tokens", "API tokens by state.", _by_state, labels=("state",)))
    register_gauge(
        Gauge(
            "api_tokens_ending",
            "Live API tokens, used in the last 14 days, that expire within 14 days.",
            _ending,
        )
    )


def _by_state() -> Iterator[Sample]:
    rows = tokens_at(timezone.now()).order_by().values("state").annotate(n=Count("id"))
    found = {row["state"]: row["n"] for row in rows}
    for state in TokenState:
        yield {"state": state.value}, float(found.get(state.value, 0))


def _ending() -> Iterator[Sample]:
    now = timezone.now()
    rows = tokens_at(now).filter(state=TokenState.LIVE, expires_at__lte=now + SOON)
    yield {}, float(rows.filter(last_used_at__gte=now - SOON).count())
