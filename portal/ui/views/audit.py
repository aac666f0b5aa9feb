"""Page of the audit record: what happened, who did it, and whether the record is intact."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.audit.services import ChainReport, audit_verify
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import AuditFilter, filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table
from portal.ui.selectors import audit_for_user, audit_head

ORDERS = {"-seq": ("-seq",), "seq": ("seq",)}
COLUMNS = (
    Column(key="seq", title="No.", kind="count", sort="seq"),
    Column(key="at", title="When", kind="ago"),
    Column(key="actor", title="Who"),
    Column(key="action", title="Action", kind="code"),
    Column(key="object_type", title="Type"),
    Column(key="object_id", title="Object", kind="code"),
    Column(key="data", title="Details", kind="template", template="portal/_audit_data.html"),
)
# Longer chains are verified when asked: it reads every event.
VERIFY_AT_ONCE = 5_000


@require_GET
def audit(request: HttpRequest) -> HttpResponseBase:
    """List the events that the person may see, newest first."""
    lake = current_lake(request)
    chosen = AuditFilter(request.GET, queryset=audit_for_user(person(request), lake))
    rows = filtered(chosen)
    if request.GET.get("format") == "csv":
        ordered = rows.order_by("-seq").iterator(chunk_size=2000)
        return stream_csv(ordered, COLUMNS, filename=f"audit-{lake}.csv")
    page = keyset_page(rows, request.GET, orders=ORDERS)
    table = Table(COLUMNS, page.rows, "Audit events", orders=tuple(ORDERS), sort=page.sort)
    head = audit_head()
    context = {
        "filter": chosen,
        "page": page,
        "table": table,
        "head": head,
        "sees_all": person(request).is_lake_staff_of(lake),
        "chain": _chain(request, head.seq if head else 0),
    }
    return render(request, "portal/audit.html", context)


def _chain(request: HttpRequest, n_events: int) -> ChainReport | None:
    """Verify the chain, which is of all lakes: at once if it is short, else when asked."""
    if not person(request).is_portal_staff:
        return None
    if n_events <= VERIFY_AT_ONCE or request.GET.get("verify"):
        return audit_verify()
    return None
