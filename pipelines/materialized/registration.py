"""Registers `pipelines.materialized` with the platform."""

from datetime import timedelta

from pipelines.materialized.run_kinds import register_materialize_kind
from pipelines.materialized.selectors import readers
from pipelines.materialized.selectors.answers import materializations_answering
from pipelines.materialized.services.advice_finding import advice_find
from pipelines.materialized.services.advice_watch import advice_watch
from pipelines.materialized.services.days import answer_add, read_add
from pipelines.materialized.services.events import FOLLOWER
from pipelines.materialized.services.requests import refreshes_due
from pipelines.materialized.ui.nav import register_pages
from portal.catalog.services.stored_aggregates import (
    register_aggregates,
    register_answered,
    register_read,
)
from portal.runs.kinds.ticks import Tick, register_tick


def register() -> None:
    """Add what this capability offers: runs, ticks, pages, and what queries are answered from."""
    register_materialize_kind()
    register_tick(Tick("materialized.due", timedelta(minutes=1), refreshes_due))
    register_tick(Tick("materialized.advice", timedelta(hours=1), advice_find))
    register_tick(Tick("materialized.advice_watch", timedelta(hours=1), advice_watch))
    FOLLOWER.register()
    readers.register()
    register_pages()
    register_aggregates("materialized", materializations_answering)
    register_answered("materialized", answer_add)
    register_read("materialized", read_add)
