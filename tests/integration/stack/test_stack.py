"""The stack itself: both forms start, hold a real table, and leave no process behind."""

import os
import smtplib
import subprocess
import sys
import time
from email.message import EmailMessage
from pathlib import Path

import pymysql
import pytest
import redis
from pymetastore.metastore import HMS

from stack.ledger import Ledger
from stack.process import start_time
from stack.stack import Stack
from tests.support.sql import REPO, SqlShell

_OWNER = """
import sys, time
from pathlib import Path
from stack.stack import Stack
stack = Stack.embedded(Path(sys.argv[1]))
stack._layers = [[stack.redis, stack.smtp]]
stack.start()
print("up", flush=True)
time.sleep(600)
"""


def _a_real_table(stack: Stack, sql: SqlShell, db: str) -> None:
    location = f"{stack.lake_root}/user/alice/{db}"
    sql.run(
        f"create database {db} location '{location}.db'",
        f"create table {db}.visits (id int) partitioned by (dt string) stored as parquet "
        "tblproperties ('LEVEL'='1','TTL'='30')",
        f"insert into {db}.visits values (1, '2026-01-01'), (2, '2026-01-02'), (3, 'a b%=:ü')",
    )
    assert sql.run(f"select count(*) from {db}.visits") == [[3]]
    config = stack.config()
    with HMS.create(config.thrift_host, config.thrift_port) as hms:
        names = hms.list_partitions(db, "visits")
    assert len(names) == 3


def test_the_embedded_stack_holds_a_real_table(
    embedded_stack: Stack, embedded_sql: SqlShell
) -> None:
    _a_real_table(embedded_stack, embedded_sql, "self_test_embedded")
    folder = embedded_stack.var / "lake/user/alice/self_test_embedded.db/visits"
    assert (folder / "dt=2026-01-01").is_dir()


def test_the_full_stack_holds_a_real_table_on_hdfs_and_mariadb(
    full_stack: Stack, full_sql: SqlShell
) -> None:
    _a_real_table(full_stack, full_sql, "self_test_full")
    assert full_stack.mariadb is not None
    link: pymysql.Connection[pymysql.cursors.Cursor] = full_stack.mariadb.connect()
    with link, link.cursor() as cursor:
        cursor.execute(
            "select count(*) from PARTITIONS p join TBLS t on t.TBL_ID = p.TBL_ID "
            "join DBS d on d.DB_ID = t.DB_ID "
            "where d.NAME = 'self_test_full' and t.TBL_NAME = 'visits'"
        )
        assert cursor.fetchone() == (3,)


def test_others_of_the_machine_reach_no_file_and_no_broker(embedded_stack: Stack) -> None:
    """Sessions, password hashes, mails and names of the lake are in these files."""
    assert embedded_stack.var.stat().st_mode & 0o777 == 0o700
    logs = list((embedded_stack.var / "logs").iterdir())
    assert "redis.log" in {log.name for log in logs}
    assert [log.name for log in logs if log.stat().st_mode & 0o077] == []
    for name in ("password", "redis.conf"):
        assert (embedded_stack.redis.directory / name).stat().st_mode & 0o777 == 0o600
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=embedded_stack.redis.port).ping()
    word = embedded_stack.redis_url.partition("//:")[2].partition("@")[0]
    (record,) = [one for one in embedded_stack.ledger.running() if one.name == "redis"]
    assert word.encode() not in Path(f"/proc/{record.pid}/cmdline").read_bytes()


def test_redis_answers_and_mails_are_kept(embedded_stack: Stack) -> None:
    assert redis.Redis.from_url(embedded_stack.redis_url).ping()
    message = EmailMessage()
    message["Subject"], message["To"] = "self-test é", "someone@example.com"
    message.set_content("hello")
    host, port = embedded_stack.smtp.address.split(":")
    with smtplib.SMTP(host, int(port)) as client:
        client.send_message(message, from_addr="portal@example.com")
    (kept,) = embedded_stack.smtp.messages(to="someone@example.com")
    assert kept["Subject"] == "self-test é"


def test_nothing_remains_when_the_owner_is_killed(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(tmp_path)], cwd=REPO, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "up\n"
    started = Ledger(tmp_path / "stack.json").running()
    assert {record.name for record in started} == {"redis", "smtp"}
    os.kill(owner.pid, 9)
    owner.wait()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and any(start_time(record.pid) for record in started):
        time.sleep(0.1)
    assert not any(start_time(record.pid) for record in started)
