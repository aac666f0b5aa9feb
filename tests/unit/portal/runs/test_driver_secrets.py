"""Secrets are taken out of lines that a driver wrote, known ones and those that are called so."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.runs.records.secrets import HIDDEN, without_secrets


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("password=hunter2 user=hive", f"password={HIDDEN} user=hive"),
        ('"db.password": "hunter 2", "n": 1', f'"db.password": {HIDDEN}, "n": 1'),
        ("spark.hadoop.fs.s3a.secret.key=abc/+d", f"spark.hadoop.fs.s3a.secret.key={HIDDEN}"),
        ("jdbc:mysql://hive:hunter2@db:3306/hive", f"jdbc:mysql://{HIDDEN}@db:3306/hive"),
        ("https://x/y?X-Amz-Signature=abcd&n=1", f"https://x/y?X-Amz-Signature={HIDDEN}&n=1"),
        ("Authorization: Bearer abcdefgh.ij-k", f"Authorization: Bearer {HIDDEN}"),
        ("--conf my.api_key : 'abc'", f"--conf my.api_key : {HIDDEN}"),
        ("Reading 3 files of db.t at hdfs://nn:8020/lake", None),
        ("12:01:05 WARN TaskSetManager: Lost task 0.0", None),
        ("", None),
    ],
)
def test_what_is_called_a_secret_is_hidden(line: str, told: str | None) -> None:
    assert without_secrets(line, ()) == (line if told is None else told)


def test_a_known_secret_is_hidden_wherever_it_stands() -> None:
    known = ("p@ss word", "abc", "")
    assert without_secrets("x=p@ss word, y=p%40ss%20word; abcabc", known) == (
        f"x={HIDDEN}, y={HIDDEN}; {HIDDEN}{HIDDEN}"
    )


@given(st.text(max_size=60), st.text(min_size=8, max_size=20), st.text(max_size=60))
def test_no_line_keeps_a_known_secret(before: str, secret: str, after: str) -> None:
    if secret not in HIDDEN:
        told = without_secrets(before + secret + after, (secret,))
        assert secret not in told.replace(HIDDEN, "")


@pytest.mark.parametrize("part", ["a", "password", "token.", "://", "://a", "secret=", "bearer "])
def test_a_long_line_takes_no_long_time(part: str) -> None:
    began = time.thread_time()
    without_secrets(part * (1_000_000 // len(part)), ("known",))
    assert time.thread_time() - began < 5
