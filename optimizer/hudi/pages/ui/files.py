"""The tab of a Hudi table's file groups: base files, logs, pending plans and damage."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from optimizer.core.ui.columns import cell
from optimizer.hudi.inspect.selectors.slices import SliceRow, slices_of, sums_of
from optimizer.hudi.inspect.selectors.snapshots import hudi_policy_of, last_inspection
from optimizer.hudi.pages.ui import charts
from optimizer.hudi.pages.ui.lists import ANY, HeldFilter, HeldSpec, held_response
from optimizer.hudi.pages.ui.nav import frame_of
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from portal.ui.frame.context import person
from portal.ui.lists.tables import Column

Test = Callable[[SliceRow], bool]
FLAGS: Mapping[str, tuple[str, Test]] = {
    "damaged": ("Damaged", lambda row: bool(row.damage)),
    "logs": ("With logs", lambda row: row.n_logs > 0),
    "log-only": ("Logs only", lambda row: row.is_log_only),
    "planned": ("In a pending plan", lambda row: bool(row.plan)),
    "unplanned": ("Logs in no plan", lambda row: row.n_logs > 0 and not row.plan),
    "small": ("Small base file", lambda row: row.is_small),
}

SLICES = HeldSpec(
    template="optimizer/hudi_files.html",
    caption="File groups and their latest slices",
    columns=(
        cell("Partition", "hudi_partition", sort="name"),
        Column(key="file_id", title="File group", kind="code"),
        Column(key="base_bytes", title="Base file", kind="bytes", sort="base"),
        Column(key="n_logs", title="Logs", kind="count", sort="n_logs"),
        Column(key="log_bytes", title="In logs", kind="bytes", sort="logs"),
        cell("Log share", "hudi_share", sort="share", is_number=True),
        cell("What holds it", "hudi_flags", is_wide=True),
        Column(key="base_instant", title="Slice of", kind="code"),
        Column(key="newest_log_instant", title="Newest log", kind="code"),
    ),
    orders={
        "-logs": lambda row: row.log_bytes,
        "-n_logs": lambda row: row.n_logs,
        "-share": lambda row: row.log_share,
        "-base": lambda row: row.base_bytes or 0,
        "base": lambda row: row.base_bytes or 0,
        "name": lambda row: row.partition,
        "-name": lambda row: row.partition,
    },
    filename="hudi-file-groups.csv",
    exports=(
        "partition", "file_id", "base_instant", "base_bytes", "n_logs", "log_bytes", "log_share",
        "newest_log_instant", "is_log_only", "is_small", "plan", "plan_action", "damage",
    ),
)  # fmt: skip


class SliceFilter(HeldFilter):
    """File groups by the beginning of their partition or id, by plan, and by what they are."""

    partition = forms.CharField(
        label="Partition",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "starts with", "autocomplete": "off"}),
    )
    file_id = forms.CharField(
        label="File group",
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "starts with", "autocomplete": "off"}),
    )
    plan = forms.CharField(label="In the plan", required=False)
    flag = forms.ChoiceField(
        choices=[ANY, *((name, words) for name, (words, _) in FLAGS.items())],
        label="Only",
        required=False,
    )

    def keeps(self, row: SliceRow, chosen: Mapping[str, Any]) -> bool:
        """Whether a file group is in the list."""
        return (
            row.partition.startswith(chosen["partition"])
            and row.file_id.startswith(chosen["file_id"])
            and (not chosen["plan"] or row.plan == chosen["plan"])
            and (not chosen["flag"] or FLAGS[chosen["flag"]][1](row))
        )


@require_GET
def files(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show the latest slice of every file group."""
    table = get_hudi_for_user(table_id, person(request))
    seen, policy = last_inspection(table), hudi_policy_of(table).policy
    rows = slices_of(seen.look, policy) if seen.look else []
    sums = sums_of(seen.look.slices if seen.look else ())
    shown = {"charts": charts.slices(sums), "sums": sums, "small_bytes": policy.small_bytes}
    return held_response(
        request, SLICES, rows=rows, chosen=SliceFilter(request.GET),
        context=frame_of(table, seen, shown),
    )  # fmt: skip
