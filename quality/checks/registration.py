"""Registers `quality.checks` with the platform."""

from datetime import timedelta

from portal.runs.kinds.ticks import Tick, register_tick
from quality.checks.run_kinds import register_check_kinds
from quality.checks.selectors.numbers import register_gauges
from quality.checks.services.blocking import Marks, held_back
from quality.checks.services.commits import FOLLOWER
from quality.checks.services.requests import checks_due
from quality.checks.services.results import results_trim
from quality.checks.services.samples import samples_trim
from quality.checks.services.trials import trials_trim
from quality.checks.ui.nav import register_pages
from quality.checks.ui.table_tab import register_checks_tab
from quality.freshness.services.gates import register_gate
from quality.ready_flag.services.mark_gates import register_mark_gate


def register() -> None:
    """Add what this capability offers: runs, ticks, pages, numbers, and gates before readiness."""
    register_check_kinds()
    register_tick(Tick("checks.due", timedelta(minutes=1), checks_due))
    register_tick(Tick("checks.trim", timedelta(hours=1), results_trim))
    register_tick(Tick("checks.trim_samples", timedelta(hours=1), samples_trim))
    register_tick(Tick("checks.trim_trials", timedelta(hours=1), trials_trim))
    FOLLOWER.register()
    register_pages()
    register_checks_tab()
    register_gauges()
    register_gate("checks", held_back)
    register_mark_gate("checks", Marks())
