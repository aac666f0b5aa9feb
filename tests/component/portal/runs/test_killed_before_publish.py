"""A process killed between commit and publish: its message goes out with the relay's next turn.

This is what `transaction.on_commit` with the watchdog alone would lack (ADR 0033).
"""

import os
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection

from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import FIRST_REPUBLISH
from portal.runs.execution.takeover import watch
from portal.runs.models import Outbox, Run
from portal.runs.outbox.services import outbox_publish
from tests.component.conftest import LAKE

pytestmark = pytest.mark.django_db(transaction=True)
DIES = """
import os, signal, sys
import django
django.setup()
from django.db import connection, transaction
from django.utils import timezone
from portal.runs.requests.services import run_request
connection.settings_dict["NAME"] = sys.argv[1]
with transaction.atomic():
    transaction.on_commit(lambda: os.kill(os.getpid(), signal.SIGKILL))
    now = timezone.now()
    run_request("lifecycle.scan", lake=sys.argv[2], params={}, requested_by="ada", now=now)
"""


def test_a_run_whose_process_was_killed_after_its_commit_is_published_at_once(
    lake: LakeConfig,
) -> None:
    command = [sys.executable, "-c", DIES, str(connection.settings_dict["NAME"]), LAKE]
    environment = {**os.environ, "LAKEWARDEN_VAR": str(settings.LAKEWARDEN_VAR)}
    died = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    run, sent = Run.objects.get(), list[str]()
    second = run.queued_at + timedelta(seconds=1)
    assert outbox_publish(lambda row: sent.append(row.row_id), now=second).n_published == 1
    assert sent == [str(run.pk)]
    # Without the row, the watchdog would be the first to speak of the run.
    Outbox.objects.all().delete()
    watch(now=run.queued_at + FIRST_REPUBLISH - timedelta(seconds=1))
    assert not Outbox.objects.exists()
    watch(now=run.queued_at + FIRST_REPUBLISH)
    assert Outbox.objects.get().row_id == str(run.pk)
