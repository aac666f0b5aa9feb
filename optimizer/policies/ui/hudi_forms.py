"""Form that sets the policy of Hudi tables."""

from django import forms

from optimizer.hudi.maintenance.domain.tasks import DESTRUCTIVE, Service
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.domain.hudi_policy import Profile
from optimizer.policies.ui.forms import INHERITED, NOTHING, ON_OFF, ScopeForm

_DOES = {
    Service.COMPACTION: "logs become base files",
    Service.CLUSTERING: "small file groups become few, in order",
    Service.CLEAN: "old versions of files go",
    Service.ROLLBACK: "what a dead writer left is rolled back",
    Service.TTL: "old partitions are dropped",
}


def _services() -> list[tuple[str, str]]:
    words = [
        (one.value, f"{one}: {_DOES[one]}{' (approved first)' if one in DESTRUCTIVE else ''}")
        for one in Service
        if one in _DOES  # rows come back by a person's request alone
    ]
    return [*words, (NOTHING, "Disable all")]


class HudiPolicyForm(ScopeForm):
    """The settings of Hudi tables."""

    table_format = TableFormat.HUDI
    texts = ("lock", "small_bytes", "quiet", "budget_gb_hours")
    flags = ("is_on", "writer_serialized", "is_continuous")

    is_on = forms.ChoiceField(choices=ON_OFF, required=False)
    profile = forms.ChoiceField(
        choices=[*INHERITED, *((one.value, one.value) for one in Profile)], required=False
    )
    lock = forms.CharField(max_length=1000, required=False)
    writer_serialized = forms.ChoiceField(choices=ON_OFF, required=False)
    is_continuous = forms.ChoiceField(choices=ON_OFF, required=False)
    kinds = forms.MultipleChoiceField(
        choices=_services, required=False, widget=forms.CheckboxSelectMultiple
    )
    commits = forms.IntegerField(required=False)
    minutes = forms.IntegerField(required=False)
    max_plans = forms.IntegerField(required=False)
    cluster_files = forms.IntegerField(required=False)
    small_bytes = forms.CharField(max_length=40, required=False)
    clean_commits = forms.IntegerField(required=False)
    ttl_days = forms.IntegerField(required=False)
    stuck_minutes = forms.IntegerField(required=False)
    stale_minutes = forms.IntegerField(required=False)
    max_pending = forms.IntegerField(required=False)
    quiet = forms.CharField(max_length=40, required=False)
    budget_gb_hours = forms.CharField(max_length=40, required=False)
