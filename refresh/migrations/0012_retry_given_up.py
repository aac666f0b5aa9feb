"""Puts tables back into the queue that were given up for a login or a right.

Before these errors were retried (1045, 1142, 5203) such a table stayed at rest until its next change.
"""

from django.db import migrations
from django.db.models import OuterRef, Subquery
from django.utils import timezone

_RETRIED_NOW = (1045, 1142, 5203)


def retry_given_up(apps, schema_editor):
    target = apps.get_model("refresh", "RefreshTarget")
    statement = apps.get_model("refresh", "Refresh")
    last = statement.objects.filter(target=OuterRef("pk")).order_by("-id")
    resting = target.objects.filter(due_at=None, running_since=None, watched__is_off=False)
    given_up = resting.exclude(problem="").annotate(code=Subquery(last.values("code")[:1]))
    keys = list(given_up.filter(code__in=_RETRIED_NOW).values_list("pk", flat=True))
    now = timezone.now()
    for start in range(0, len(keys), 500):
        rows = target.objects.filter(pk__in=keys[start : start + 500])
        rows.update(due_at=now, waits_since=now, n_tries=0, not_before=None)


class Migration(migrations.Migration):
    dependencies = [("refresh", "0011_judged_states")]

    operations = [migrations.RunPython(retry_given_up, migrations.RunPython.noop)]
