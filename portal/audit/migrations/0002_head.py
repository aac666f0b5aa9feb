"""The head of the chain: made once here, so that writers only ever lock it."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_head(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the row that is locked to append."""
    apps.get_model("audit", "AuditHead").objects.get_or_create(name="main")


class Migration(migrations.Migration):
    """Adds the head of the chain `main`."""

    dependencies = [("audit", "0001_initial")]
    operations = [migrations.RunPython(add_head, migrations.RunPython.noop)]
