"""Leave the red button to the app `safety`; its table stays as it is."""

from django.db import migrations


class Migration(migrations.Migration):
    """Forget the model; no SQL is run."""

    dependencies = [("act", "0007_batches_by_drop"), ("safety", "0001_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name="RedButton")]
        )
    ]
