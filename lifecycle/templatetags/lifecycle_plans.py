"""What may a person ask of a table on its page?"""

from typing import Any

from django import template
from django.template import Context

from lifecycle.models import TableFinding
from lifecycle.selectors.plan_inputs import owns_table

register = template.Library()


@register.inclusion_tag("lifecycle/_clean_now.html", takes_context=True)
def clean_now(context: Context, table: TableFinding) -> dict[str, Any]:
    """Offer an owner to ask that a table's due data be cleaned now; nothing to others."""
    user = context["request"].user
    n_due = table.n_clean_now + table.n_still_read
    owns = n_due > 0 and owns_table(user.username, lake=table.lake, db=table.db, table=table.table)
    return {
        "table": table,
        "offered": owns,
        "n_due": n_due,
        "csrf_token": context.get("csrf_token"),
    }
