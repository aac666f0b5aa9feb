from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("optimizer", "0012_query_days"),
    ]

    operations = [
        migrations.RenameField("advice", "layout", "proposed"),
        migrations.RenameField("advice", "layout_before", "before"),
        migrations.AddField(
            model_name="advice",
            name="subject",
            field=models.CharField(
                choices=[("layout", "layout"), ("index_columns", "index_columns")],
                default="layout",
                help_text="the field of the policy that it would set",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="advice",
            constraint=models.UniqueConstraint(
                fields=("table", "subject", "is_open"), name="optimizer_advice_open_once"
            ),
        ),
        migrations.RemoveConstraint(model_name="advice", name="optimizer_advice_once"),
        migrations.AlterField(
            model_name="advice",
            name="applied_at",
            field=models.DateTimeField(help_text="when the policy took it", null=True),
        ),
        migrations.AlterField(
            model_name="advice",
            name="before",
            field=models.CharField(
                blank=True, help_text="of the table's policy then", max_length=2200
            ),
        ),
        migrations.AlterField(
            model_name="advice",
            name="evidence",
            field=models.JSONField(help_text="shapes of filters, what was tried, the sample"),
        ),
        migrations.AlterField(
            model_name="advice",
            name="measured_from",
            field=models.DateTimeField(help_text="when the first such task had ended", null=True),
        ),
        migrations.AlterField(
            model_name="advice",
            name="proposed",
            field=models.CharField(
                help_text="to what, such as hilbert(a,b), or columns: id, user_id:bloom",
                max_length=2200,
            ),
        ),
    ]
