"""The page that says why a partition, or an unpartitioned table, expires, and what to answer."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.ui.links import details_url, policy_url, table_url
from lifecycle.inventory.selectors.dropped import dropped_partitions, take_off_dropped
from lifecycle.inventory.selectors.findings import get_item_for_user
from lifecycle.inventory.selectors.item_details import expiry_reason
from lifecycle.inventory.selectors.policy import PolicyNow, last_change, table_policy
from lifecycle.inventory.services.item_details import why_inspection_request
from lifecycle.models import TableFinding
from portal.ui.frame.context import current_lake, person


@require_GET
def why(request: HttpRequest, db: str, table: str) -> HttpResponse:
    """Show both clocks, which won, where the TTL comes from, and what the person may answer."""
    lake, user = current_lake(request), person(request)
    partition = request.GET.get("partition", "")
    found, item, within = get_item_for_user(lake, db, table, partition, user=user)
    take_off_dropped([found])
    now = timezone.now()
    standing = table_policy(found)
    context: dict[str, Any] = {
        "generation": found.generation,
        "found": found,
        "partition": partition,
        "within": within,
        "is_dropped": bool(dropped_partitions(found, [partition])),
        "table_url": table_url(lake, db, table),
        "policy_url": policy_url(lake, db, table),
        "set_by": last_change(lake, db, table),
        "newer": standing if standing.is_newer_than_scan and _differs(found, standing) else None,
    }
    if item is not None:
        context["why"] = expiry_reason(found, item, now=now, today=timezone.localdate(now))
    return render(request, "lifecycle/item_details.html", context)


@require_POST
def why_look(request: HttpRequest, db: str, table: str) -> HttpResponseRedirect:
    """Have the clocks of a partition brought that is known by its range only."""
    lake, user = current_lake(request), person(request)
    partition = request.GET.get("partition", "")
    why_inspection_request(lake, (db, table, partition), user=user, now=timezone.now())
    messages.info(request, "Its details are being loaded; reload this page in a moment.")
    return HttpResponseRedirect(details_url(lake, db, table, partition))


def _differs(found: TableFinding, standing: PolicyNow) -> bool:
    return (found.level, found.ttl) != (standing.values.level, standing.values.ttl)
