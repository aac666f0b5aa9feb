"""Keeps the instants of a table as its last inspection found them, for search."""

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.tables.models import INSTANT_CHARS
from optimizer.models import HudiInstant, HudiTable

AT_ONCE = 1_000


def instants_keep(table: HudiTable, look: HudiInspection) -> None:
    """Let the rows of a table be the instants of a look; what did not change is not written.

    The caller holds the table's lock, in its transaction. Called again it changes nothing.
    """
    wanted = {
        (one.instant, str(one.action), str(one.state))
        for one in look.instants
        if len(one.instant) <= INSTANT_CHARS
    }
    rows = HudiInstant.objects.filter(table=table).values_list("pk", "instant", "action", "state")
    stored = {tuple(facts): key for key, *facts in rows}
    gone = [key for facts, key in stored.items() if facts not in wanted]
    for first in range(0, len(gone), AT_ONCE):
        HudiInstant.objects.filter(pk__in=gone[first : first + AT_ONCE]).delete()
    HudiInstant.objects.bulk_create(
        [
            HudiInstant(table=table, instant=instant, action=action, state=state)
            for instant, action, state in sorted(wanted - stored.keys())
        ],
        batch_size=AT_ONCE,
    )
