"""Policies of Hudi tables, beside those of Iceberg tables."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0009_hudi_tables"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="policyversion",
            name="optimizer_policy_version_once",
        ),
        migrations.RemoveConstraint(
            model_name="policyversion",
            name="optimizer_policy_current_once",
        ),
        migrations.AddField(
            model_name="policyversion",
            name="format",
            field=models.CharField(
                default="iceberg", help_text="of the tables that it is about", max_length=16
            ),
        ),
        migrations.AddConstraint(
            model_name="policyversion",
            constraint=models.UniqueConstraint(
                fields=("lake", "format", "scope", "version"), name="optimizer_policy_version_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="policyversion",
            constraint=models.UniqueConstraint(
                fields=("lake", "format", "scope", "is_current"),
                name="optimizer_policy_current_once",
            ),
        ),
    ]
