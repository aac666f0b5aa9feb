"""Registers `quality.incidents` with the platform."""

from datetime import timedelta

from portal.notices.kinds import MailKind, register_mail_kinds
from portal.runs.kinds.ticks import Tick, register_tick
from quality.checks.services.followers import Follower, register_follower
from quality.incidents.selectors.numbers import register_gauges
from quality.incidents.services.escalation import incidents_escalate, incidents_trim
from quality.incidents.services.hooks import incidents_post
from quality.incidents.services.mails import MAIL, incidents_tell
from quality.incidents.services.opening import (
    incidents_changed,
    incidents_judged,
    incidents_unmeasured,
)
from quality.incidents.ui.nav import register_pages


def register() -> None:
    """Add what this capability offers: what follows from results, ticks, mails, pages, numbers."""
    register_follower(
        "incidents", Follower(incidents_judged, incidents_unmeasured, incidents_changed)
    )
    register_tick(Tick("incidents.escalate", timedelta(minutes=1), incidents_escalate))
    register_tick(Tick("incidents.tell", timedelta(minutes=1), incidents_tell))
    register_tick(Tick("incidents.post", timedelta(seconds=10), incidents_post))
    register_tick(Tick("incidents.trim", timedelta(hours=1), incidents_trim))
    register_mail_kinds(MailKind(MAIL, "Incidents of checks"))
    register_pages()
    register_gauges()
