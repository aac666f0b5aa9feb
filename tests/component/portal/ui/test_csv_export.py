"""Tests CSV exports: streamed, exact, and free of cells that a spreadsheet would run."""

import csv
import io
from datetime import UTC, date, datetime
from typing import Any

import pytest

from portal.ui.lists.csv import stream_csv
from portal.ui.lists.tables import Column, Table

COLUMNS = (
    Column(key="name", title="Name"),
    Column(key="size", title="Size", kind="bytes"),
    Column(key="inner.at", title="At", kind="ago"),
    Column(key="buttons", title="", export=False),
)


@pytest.mark.django_db(transaction=True)
def test_what_an_export_holds_is_freed_once_when_its_reader_leaves() -> None:
    freed: list[str] = []
    response = stream_csv([{"name": "a"}, {"name": "b"}], COLUMNS[:1], filename="x.csv")
    response.on_close(lambda: freed.append("slot"))
    next(iter(response))
    assert freed == []
    response.close()
    response.close()
    assert freed == ["slot"]


def lines(rows: list[dict[str, Any]]) -> list[list[str]]:
    response = stream_csv(rows, COLUMNS, filename="a b/../c.csv")
    assert response["Content-Disposition"] == 'attachment; filename="a-b-..-c.csv"'
    text = b"".join(response).decode()
    return list(csv.reader(io.StringIO(text)))


def test_columns_and_exact_values_stand_in_the_file() -> None:
    at = datetime(2026, 11, 20, 9, 0, 1, tzinfo=UTC)
    row = {"name": "orders", "size": 123456789, "inner": {"at": at}, "buttons": "x"}
    assert lines([row]) == [
        ["name", "size", "inner.at"],
        ["orders", "123456789", "2026-11-20T09:00:01+00:00"],
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "=cmd|' /C calc'!A0",
        "@SUM(1)",
        "+1+1",
        "-1+1",
        "\t=1+1",
        "\r=1+1",
        " =1+1",
        "%0A=1",
        "\uff1d1+1",
    ],
)
def test_a_formula_is_defused(bad: str) -> None:
    (_, (cell, *_)) = lines([{"name": bad, "size": 1, "inner": None}])
    assert cell.startswith("'")
    (_, (listed, *_)) = lines([{"name": [bad, "b"], "size": 1, "inner": None}])
    assert listed.startswith("'"), "a list is one cell, and begins with its first part"


def test_days_lists_and_absent_values_are_plain() -> None:
    (_, row) = lines([{"name": ["a", "b"], "size": None, "inner": {"at": date(2026, 1, 2)}}])
    assert row == ["a; b", "", "2026-01-02"]


def test_rows_are_read_while_the_file_is_sent() -> None:
    read: list[int] = []

    def rows() -> Any:
        for number in range(5):
            read.append(number)
            yield {"name": number, "size": 0, "inner": None}

    stream = iter(stream_csv(rows(), COLUMNS, filename="x.csv"))
    next(stream)
    assert read == []
    next(stream)
    assert read == [0]


def test_a_table_follows_attributes_mappings_and_calls() -> None:
    column = Column(key="upper.strip", title="T", url=lambda row: f"/t/{row}")
    ((_, (cell,)),) = Table([column], [" a "], "t").body
    assert (cell.value, cell.url) == ("A", "/t/ a ")
