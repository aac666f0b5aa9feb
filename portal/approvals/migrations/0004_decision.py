"""Renames what a person decided to the glossary's word."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename a column and its check; no row changes."""

    dependencies = [("approvals", "0003_comment_mails")]

    operations = [
        migrations.RemoveConstraint("decision", "approvals_known_verdict"),
        migrations.RenameField("decision", "verdict", "decision"),
        migrations.AddConstraint(
            "decision",
            models.CheckConstraint(
                condition=models.Q(decision__in=["APPROVE", "REJECT"]),
                name="approvals_known_decision",
            ),
        ),
    ]
