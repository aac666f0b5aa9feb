"""The lake and the people of a whole story: scan, notice, plan, approve, drop, restore."""

from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import Group
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.drop.services.execution import plans_start_due
from lifecycle.drop.services.plans import plan_request
from lifecycle.inventory.services.scan import scan_request_daily
from lifecycle.models import DatabaseSetting, DropPlan
from portal.access.models import User
from portal.access.roles.domain import ADMIN
from portal.connectors.lake_config import LakeConfig
from portal.lake.clock import day_of
from portal.lake.names import TableName
from portal.notices.services import notices_send
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from stack.stack import Stack
from tests.support.plan_words import plan_approve
from tests.support.run_here import run_here
from tests.support.scan_lake import NOW, ScanLake

LAKE = "main"


def use_stack(settings: Settings, stack: Stack, *, var: Path, lakes: Path | None = None) -> None:
    """Let the portal of a test stand on a stack's servers, without a cooling-off."""
    settings.LAKEWARDEN_VAR = var
    settings.LAKEWARDEN_LAKES = lakes or stack.lakes_file
    settings.LAKEWARDEN_DIRECTORY = stack.directory_file
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 0
    host, _, port = stack.env["LAKEWARDEN_SMTP"].rpartition(":")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = host, int(port)


class Story:
    """A small lake of one owner, and the portal's people."""

    def __init__(self, config: LakeConfig, root: str) -> None:
        self.config = config
        self.root = config.path(root)
        self.lake = ScanLake(self.config, self.root)
        self.people = {name: self._person(name) for name in ("alice", "ada", "ben", "cleo")}
        home = self.lake.database("story", owner="alice")
        self.db = self.lake.db_name("story")
        DatabaseSetting.objects.create(
            lake=LAKE, db=self.db, mode="ACT", template=f"{self.root}/user/{{owner}}"
        )
        policy = {"LEVEL": "1", "TTL": "60"}
        location = str(home.child("visits"))
        table = self.lake.table(
            "story", "visits", owner="alice", location=location, parameters=policy
        )
        self.name = TableName.parse(self.config.lake, self.lake.name_of(table))
        self.places = {}
        for day, age in (("old", 100.0), ("older", 120.0), ("written", 110.0), ("young", 5.0)):
            place = self.lake.partition(table, day, ddl_age=age)
            self.lake.data(place, age=age)
            self.places[f"dt={day}"] = place

    @staticmethod
    def _person(name: str) -> User:
        user = User.objects.create_user(name, f"{name}@example.com", "a long enough password")
        if name != "alice":
            user.groups.add(Group.objects.get_or_create(name=ADMIN)[0])
        return user

    def partitions(self) -> list[str]:
        return sorted(self.lake.metastore.partition_names(self.name))

    def files(self, partition: str) -> list[tuple[str, int, int]]:
        place = self.config.path(self.places[partition])
        if self.lake.fs.status(place) is None:
            return []
        found = self.lake.fs.walk(place)
        return [(one.path.name, one.size, one.mtime_ms) for one in found if not one.is_dir]

    def plan(self, now: datetime, *others: str) -> DropPlan:
        """Create a plan of the visits, and of other tables of the database."""
        tables = [str(self.name), *(f"{self.db}.{other}" for other in others)]
        plan = plan_request(LAKE, tables=tables, reason="old", user=self.people["ada"], now=now)
        assert plan.plan_run_id is not None
        run = run_drive(plan.plan_run_id)
        assert run.state == "DONE", run.error
        return DropPlan.objects.select_related("approval").get(pk=plan.pk)

    def approve(self, plan: DropPlan, now: datetime) -> None:
        for name in ("ben", "cleo"):
            plan_approve(
                plan.pk,
                user=self.people[name],
                digest=plan.digest,
                authenticated_at=now,
                now=now,
            )

    def scanned(self, spark: SparkSession, now: datetime) -> Run:
        """Scan in this process, and send the mails that the new picture calls for."""
        run = run_here(scan_request_daily(LAKE, now=now), spark)
        assert run.state == "DONE", run.error
        notices_send(now=now, today=day_of(now, self.config.zone))
        return run

    def executed(self, plan: DropPlan, spark: SparkSession) -> Run:
        """Approve a plan and run it to its end in this process."""
        self.approve(plan, NOW)
        return self.executed_now(plan, spark)

    def executed_now(self, plan: DropPlan, spark: SparkSession) -> Run:
        """Run an approved plan to its end in this process."""
        (run,) = plans_start_due(NOW + timedelta(seconds=1))
        return run_here(run, spark)
