"""The tables of the app `events`, in place of the steps that made them (ADR 0035)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("events", "0001_initial"),
        ("events", "0002_touches_keep_alterations"),
        ("events", "0003_clock_behind"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="EventPosition",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32, unique=True)),
                (
                    "first_id",
                    models.BigIntegerField(
                        help_text="where following began; nothing is known before"
                    ),
                ),
                ("position", models.BigIntegerField()),
                (
                    "fence",
                    models.PositiveIntegerField(help_text="epoch of the lease that moved it last"),
                ),
                (
                    "newest_id",
                    models.BigIntegerField(help_text="the log's newest id when last read"),
                ),
                ("moved_at", models.DateTimeField()),
                ("checked_at", models.DateTimeField()),
                (
                    "clock_behind_seconds",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="how far the metastore's clock lay behind ours at least, by new events",
                    ),
                ),
                (
                    "hole_since",
                    models.DateTimeField(help_text="when an id was first found missing", null=True),
                ),
            ],
        ),
        migrations.CreateModel(
            name="EventAlarm",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("kind", models.CharField(max_length=24)),
                ("event_id", models.BigIntegerField()),
                ("db", models.CharField(blank=True, default="", max_length=128)),
                ("table", models.CharField(blank=True, default="", max_length=256)),
                ("subscriber", models.CharField(blank=True, default="", max_length=64)),
                ("detail", models.TextField()),
                ("raised_at", models.DateTimeField()),
                ("rescanned_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["lake", "rescanned_at", "event_id"], name="events_alarm_open"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "kind", "event_id", "subscriber"), name="events_alarm_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "LOG_CLEANED",
                                    "ID_BELOW_POSITION",
                                    "HOLE",
                                    "UNREADABLE",
                                    "SUBSCRIBER_FAILED",
                                ],
                            )
                        ),
                        name="events_alarm_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TableTouch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("table", models.CharField(max_length=256)),
                ("event_id", models.BigIntegerField()),
                ("event_type", models.CharField(max_length=32)),
                (
                    "altered_event_id",
                    models.BigIntegerField(default=0, help_text="0: only partitions or data"),
                ),
                (
                    "stray_places",
                    models.JSONField(
                        default=list,
                        help_text="[event id, location] of partitions put outside their table",
                    ),
                ),
                ("at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["lake", "event_id"], name="events_touch_since")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "table"), name="events_touch_once"
                    )
                ],
            },
        ),
    ]
