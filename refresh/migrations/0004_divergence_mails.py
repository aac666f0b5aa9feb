"""Adds when people were last mailed of a front end's divergence, and what was held back since."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F


def keep_mailed(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Whoever is alarmed now was mailed when it began, and is mailed of its end."""
    rows = apps.get_model("refresh", "TargetFrontEnd").objects.exclude(divergence_began_at=None)
    rows.update(divergence_mailed_at=F("divergence_began_at"), is_divergence_mailed=True)


class Migration(migrations.Migration):
    """Rename a column and add three."""

    dependencies = [("refresh", "0003_message")]

    operations = [
        migrations.RenameField("targetfrontend", "divergence_notified_at", "divergence_began_at"),
        migrations.AlterField(
            model_name="targetfrontend",
            name="divergence_began_at",
            field=models.DateTimeField(
                help_text="since when it is known to diverge, until a probe agrees again",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="targetfrontend",
            name="divergence_mailed_at",
            field=models.DateTimeField(
                help_text="when admins and operators were last mailed of it", null=True
            ),
        ),
        migrations.AddField(
            model_name="targetfrontend",
            name="is_divergence_mailed",
            field=models.BooleanField(
                default=False, help_text="whether that mail said that it diverges"
            ),
        ),
        migrations.AddField(
            model_name="targetfrontend",
            name="n_divergences_held",
            field=models.PositiveIntegerField(
                default=0, help_text="divergences begun since that mail, which no mail spoke of"
            ),
        ),
        migrations.RunPython(keep_mailed, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="targetfrontend",
            index=models.Index(fields=["divergence_mailed_at"], name="refresh_on_fe_mailed"),
        ),
    ]
