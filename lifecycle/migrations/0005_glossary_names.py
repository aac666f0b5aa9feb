"""Renames two foreign keys to the glossary's names: the restore test and the enrollment."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename two columns, with the indexes over them taken off meanwhile; no row changes."""

    dependencies = [("lifecycle", "0004_largest_tables")]

    operations = [
        migrations.RemoveConstraint("restoretestitem", "drill_item_once"),
        migrations.RemoveIndex("restoretestitem", "drill_in_order"),
        migrations.RenameField("restoretestitem", "drill", "restore_test"),
        migrations.AddConstraint(
            "restoretestitem",
            models.UniqueConstraint(
                fields=["restore_test", "batch_id", "item"], name="drill_item_once"
            ),
        ),
        migrations.AddIndex(
            "restoretestitem",
            models.Index(fields=["restore_test", "db", "table", "id"], name="drill_in_order"),
        ),
        migrations.RemoveConstraint("enrollmentitem", "enrolled_once"),
        migrations.RemoveIndex("enrollmentitem", "enrol_item_state"),
        migrations.RenameField("enrollmentitem", "enrolment", "enrollment"),
        migrations.AddConstraint(
            "enrollmentitem",
            models.UniqueConstraint(fields=["enrollment", "db", "table"], name="enrolled_once"),
        ),
        migrations.AddIndex(
            "enrollmentitem",
            models.Index(fields=["enrollment", "state", "id"], name="enrol_item_state"),
        ),
    ]
