"""Computes the GB-hours of the day spent. Iceberg and Hudi tasks draw on the same budget.

A budget belongs to the scope whose policy names it. Where policies of both formats name one at the
same scope, each is held against what the tasks of both took together.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.db.models import Sum

from optimizer.models import OptimizeTask
from optimizer.policies.selectors.hudi_policies import HudiPolicies, hudi_policies_of
from optimizer.policies.selectors.policies import LakePolicies, policies_of

BUDGET = "budget_gb_hours"
_DAY = timedelta(days=1)


def seconds_spent(lake: str, *, now: datetime) -> Mapping[str, float]:
    """Return the seconds that tasks took in the last day, by the scope that sets their budget."""
    iceberg, hudi = policies_of(lake), hudi_policies_of(lake)
    # Only what names a budget is resolved: there may be ten thousand tables, and few scopes.
    of_iceberg = LakePolicies([one for one in iceberg.levels if BUDGET in one.values], iceberg.ids)
    of_hudi = HudiPolicies([one for one in hudi.levels if BUDGET in one.values], hudi.ids)
    spent: defaultdict[str, float] = defaultdict(float)
    _add(spent, "table", lake, lambda db, table: of_iceberg.of(db, table).sources, now)
    _add(spent, "hudi", lake, lambda db, table: of_hudi.of(db, table).sources, now)
    return spent


def _add(
    spent: defaultdict[str, float],
    of: str,
    lake: str,
    sources: Callable[[str, str], Mapping[str, str]],
    now: datetime,
) -> None:
    ended = OptimizeTask.objects.filter(
        **{f"{of}__lake": lake}, ended_at__gte=now - _DAY, seconds__gt=0
    )
    totals = ended.values_list(f"{of}__db", f"{of}__table").order_by().annotate(Sum("seconds"))
    for db, table, total in totals:
        spent[sources(db, table)[BUDGET]] += total
