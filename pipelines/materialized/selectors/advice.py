"""Queries of advice on materializations; it shows what queries ask, so it is for staff alone."""

import django_filters as filters
from django.db.models import Q, QuerySet

from pipelines.materialized.domain.advising import AdviceState
from pipelines.models import MaterializationAdvice
from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix

ADVICE_ORDERS = {
    "-made": ("-made_at",),
    "-queries": ("-n_queries",),
    "-read": ("-n_bytes",),
}


def state_choices() -> list[tuple[str, str]]:
    """Return the states with their words."""
    return [(one.value, badge_for(f"MATERIALIZATION_ADVICE_{one}").word) for one in AdviceState]


class MaterializationAdviceFilter(ListFilter):
    """Advice by state and table of facts."""

    state = filters.ChoiceFilter(choices=state_choices, label="State", empty_label="Any")
    db = prefix("db", "Database")
    table = prefix("table", "Table")

    class Meta:
        model = MaterializationAdvice
        fields: list[str] = []


def advice_visible(lake: str, user: User) -> QuerySet[MaterializationAdvice]:
    """Return the advice of a lake that the person may see."""
    return _seen(user).filter(lake=lake)


def n_new_advice(lake: str, user: User) -> int:
    """Return how much advice waits for somebody's decision."""
    return advice_visible(lake, user).filter(state=AdviceState.NEW).count()


def get_advice_for_user(number: int, user: User) -> MaterializationAdvice:
    """Return one advice.

    Raises:
        NotVisible: `materialized.advice_unknown`.
    """
    found = _seen(user).filter(pk=number).first()
    if found is None:
        raise NotVisible(
            "materialized.advice_unknown", f"There is no advice {number} for you.", advice=number
        )
    return found


def _seen(user: User) -> QuerySet[MaterializationAdvice]:
    rows = MaterializationAdvice.objects.select_related("materialization")
    # Its own column: advice to define something has no materialization yet.
    return rows.filter(of_staffed_lakes(user, otherwise=Q(pk__in=[])))
