"""The tables of the app `access` and its two roles, in place of the steps that made them (ADR 0035)."""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.utils.timezone
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the groups that stand for roles; everybody else owns what Hive says they own."""
    group = apps.get_model("auth", "Group")
    for name in ("admin", "operator"):
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    replaces = [
        ("access", "0001_initial"),
        ("access", "0002_roles"),
        ("access", "0003_leavers_and_owners"),
        ("access", "0004_plain_model_names"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="DatabaseAdministrator",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("db", models.CharField(max_length=128)),
                ("username", models.CharField(max_length=150)),
            ],
            options={
                "indexes": [models.Index(fields=["lake", "username"], name="access_dba_by_person")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "db", "username"), name="access_one_administrator_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OwnerMapping",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("lake", models.CharField(max_length=32)),
                ("owner", models.CharField(max_length=128)),
                ("username", models.CharField(max_length=150)),
                ("added_by", models.CharField(max_length=150)),
                ("added_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["username"], name="access_owner_by_person")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lake", "owner", "username"), name="access_one_owner_person"
                    )
                ],
            },
        ),
        migrations.RunPython(add_roles, migrations.RunPython.noop),
    ]
