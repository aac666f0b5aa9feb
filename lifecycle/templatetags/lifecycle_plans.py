"""Template tags for what a person may request of a table on its page."""

from typing import Any

from django import template
from django.template import Context

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.kept import consent_given, deletion_requested
from lifecycle.inventory.selectors.policy import asker_of
from lifecycle.models import TableFinding
from lifecycle.policies.services.deletion_consents import MOST_DAYS, may_say_yes

register = template.Library()


@register.inclusion_tag("lifecycle/_clean_now.html", takes_context=True)
def clean_now(
    context: Context, table: TableFinding, partition: str = "", cls: str = ""
) -> dict[str, Any]:
    """Offer an owner to ask that due data be cleaned now; nothing to others.

    Of a whole table, or of one partition of it, whose class is given then.
    """
    user = context["request"].user
    n_due, n_still_read = table.n_clean_now + table.n_still_read, table.n_still_read
    if partition:
        n_still_read = int(cls == ExpiryClass.STILL_READ)
        n_due = n_still_read or int(cls == ExpiryClass.CLEAN_NOW)
    owns = n_due > 0 and asker_of(user, table).owns
    is_asked = owns and deletion_requested(
        table, partition, by=user.username, kept=context.get("kept")
    )
    return {
        "table": table,
        "partition": partition,
        "n_still_read": n_still_read,
        "offered": owns and not is_asked,
        "n_due": n_due,
        "here": context["request"].get_full_path(),
        "csrf_token": context.get("csrf_token"),
        "frame": context.get("frame"),
    }


@register.inclusion_tag("lifecycle/_deletion_consent_give.html", takes_context=True)
def recently_read_offer(
    context: Context, table: TableFinding, partition: str = "", cls: str = ""
) -> dict[str, Any]:
    """Offer to let recently read data go to whose yes counts; nothing to others."""
    user = context["request"].user
    is_read = cls == ExpiryClass.STILL_READ if partition else table.n_still_read > 0
    return {
        "table": table,
        "partition": partition,
        "offered": is_read
        and may_say_yes(table, user, people=context.get("people"))
        and not consent_given(table, partition, by=user.username, kept=context.get("kept")),
        "most_days": MOST_DAYS,
        "here": context["request"].get_full_path(),
        "csrf_token": context.get("csrf_token"),
        "frame": context.get("frame"),
    }
