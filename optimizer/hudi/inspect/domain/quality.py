"""What is wrong with a Hudi table: everything that one look shows, the worst first."""

from datetime import datetime

from optimizer.hudi.inspect.domain.damage import damage
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.findings import Code, Finding, Severity
from optimizer.hudi.inspect.domain.staleness import stale_view
from optimizer.hudi.inspect.domain.timeline import unfit
from optimizer.hudi.inspect.domain.waiting import stuck_instants, waiting_plans
from optimizer.policies.domain.hudi_policy import HudiPolicy

_ORDER = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
_CODES = tuple(Code)


def failures(look: HudiInspection, policy: HudiPolicy, now: datetime) -> tuple[Finding, ...]:
    """Return what is wrong; nothing of a table whose timeline cannot be relied on.

    Such a table is not well: `timeline.unfit` says what it is.
    """
    if unfit(look) is not None:
        return ()
    found = [
        *damage(look),
        *stuck_instants(look, policy, now),
        *stale_view(look, policy, now),
        *waiting_plans(look, policy, now),
    ]
    return tuple(
        sorted(found, key=lambda one: (_ORDER.index(one.severity), _CODES.index(one.code)))
    )


def not_looked_at(look: HudiInspection) -> tuple[str, ...]:
    """Say what this look cannot tell, so that silence about it is not taken for good news."""
    silent = []
    if not look.has_read_logs:
        silent.append("Log blocks were not read: corrupt ones and unknown instants do not show.")
    if not look.has_read_keys:
        silent.append("Record keys were not compared: duplicates do not show.")
    return tuple(silent)
