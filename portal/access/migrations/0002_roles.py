"""The two roles; everybody else is an owner of what Hive says they own."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the groups that stand for roles."""
    group = apps.get_model("auth", "Group")
    for name in ("admin", "operator"):
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    """Adds the groups `admin` and `operator`."""

    dependencies = [("access", "0001_initial")]
    operations = [migrations.RunPython(add_roles, migrations.RunPython.noop)]
