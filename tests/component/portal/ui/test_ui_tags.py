"""Tests template tags: bytes, times, days and states are readable, the exact value at hand."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone

from portal.ui.charts.bands import BandPoint, band_chart
from portal.ui.charts.figures import Axes, bar_chart, line_chart, month_chart, with_marks
from portal.ui.frame.states import Badge, badge_for, register_badges
from portal.ui.lists.tables import Column
from portal.ui.templatetags import lw

XSS = '"><script>alert(1)</script>'


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (1023, "1.0 KiB"), (1536, "1.5 KiB"),
     (1024**2 * 250, "250 MiB"), (1024**4 * 3, "3.0 TiB"), (1024**7, "1024 EiB")],
)  # fmt: skip
def test_bytes_are_human_with_the_exact_number_on_hover(size: int, text: str) -> None:
    shown = lw.bytes_(size)
    assert f">{text}<" in shown
    assert f'title="{size:,} bytes"' in shown


def test_a_run_that_words_name_is_a_short_link() -> None:
    run = "0ec2e0d7-b3f8-4f54-b2a4-8ebb2dc7108d"
    shown = lw.with_runs(f"restored by run {run} {XSS}")
    assert f'<a href="/runs/{run}/">run 0ec2e0d7</a>' in shown
    assert "<script>" not in shown
    assert lw.with_runs("run after run") == "run after run"


def test_a_plain_value_of_a_result_is_shown_as_a_person_writes_it() -> None:
    assert lw.fact(3511) == "3,511"
    assert lw.fact("2026-13-41T00:56:05+00:00") == "2026-13-41T00:56:05+00:00"
    assert lw.fact("seen 2026-11-26T00:56:05+00:00") == "seen 2026-11-26T00:56:05+00:00"
    assert ">2026-11-26 00:56:05</time>" in lw.fact("2026-11-26T00:56:05.801294+00:00")


def test_an_instant_is_relative_with_utc_and_local_on_hover() -> None:
    with timezone.override(ZoneInfo("Europe/Berlin")):
        at = timezone.now() - timedelta(hours=3, minutes=5)
        shown = lw.ago(at)
        local = f"{at.astimezone(ZoneInfo('Europe/Berlin')):%Y-%m-%d %H:%M:%S}"
    assert ">3 h ago<" in shown
    assert f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" in shown
    assert f"{local} Europe/Berlin" in shown
    assert "just now" in lw.ago(timezone.now())
    assert "no value" in lw.ago(None)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-11-27 18:54", "in 3 d"),
        ("2026-12-09 18:59", "in 15 d"),
        ("2026-11-27 01:00", "in 3 d"),
        ("2026-11-28 23:59", "in 4 d"),
        ("2026-11-25 18:59", "in 23 h"),
        ("2027-02-22 18:59", "in 3 mo"),
        ("2026-11-21 23:00", "3 d ago"),
        ("2026-11-21 01:00", "3 d ago"),
        ("2026-11-24 16:00", "3 h ago"),
    ],
)
def test_days_from_now_agree_with_the_date(
    at: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = ZoneInfo("Europe/Berlin")
    now = datetime(2026, 11, 24, 19, 0, tzinfo=zone)
    monkeypatch.setattr(timezone, "now", lambda: now)
    with timezone.override(zone):
        assert f">{words}<" in lw.ago(datetime.fromisoformat(at).replace(tzinfo=zone))


@pytest.mark.parametrize(
    ("days", "text"), [(0, "today"), (1, "in 1 day"), (9, "in 9 days"), (-3, "3 days overdue")]
)
def test_a_due_day_counts_days(days: int, text: str) -> None:
    assert f">{text}<" in lw.due(timezone.localdate() + timedelta(days=days))


def test_days_and_milliseconds() -> None:
    assert "2026-11-29" in lw.day(date(2026, 11, 29))
    assert lw.from_ms(1_500) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)


def test_a_state_has_icon_word_and_colour_and_unknown_ones_too() -> None:
    shown = lw.state_badge("FAILED")
    assert all(part in shown for part in ("ti-alert-circle", "Failed", "lw-bad"))
    assert "Odd one" in lw.state_badge("ODD_ONE")
    assert "<script" not in lw.state_badge(XSS)


def test_a_column_may_be_left_out_on_narrow_screens() -> None:
    assert Column(key="n", title="N", kind="count", shown_from="tablet").align.split() == [
        "lw-num",
        "lw-shown-tablet",
    ]
    assert Column(key="n", title="N", shown_from="desktop").align == "lw-shown-desktop"
    css = (settings.BASE_DIR / "static" / "lw.css").read_text(encoding="utf-8")
    for name in ("desktop", "tablet"):
        assert f".lw-shown-{name} {{ display: none; }}" in css


def test_a_state_cannot_be_shown_in_two_ways() -> None:
    register_badges({"DONE": badge_for("DONE")})
    with pytest.raises(ValueError, match="DONE"):
        register_badges({"DONE": Badge("Finished", "x", "good")})


def test_the_query_keeps_filters_and_drops_the_place() -> None:
    request = RequestFactory().get("/", {"state": "DONE", "after": "abc", "size": "25"})
    context = Context({"request": request})
    shown = Template("{% load lw %}{% query sort='x' size='' %}").render(context)
    assert shown == "?state=DONE&amp;sort=x"


@pytest.mark.parametrize("make", [bar_chart, line_chart])
def test_a_chart_carries_its_data_table_and_escapes_names(make: type) -> None:
    chart = make(
        "c", title=XSS, labels=["a", XSS], series={XSS: [1, 2048]}, axes=Axes("Day", XSS, "bytes")
    )
    shown = Template("{% load lw %}{% chart chart %}").render(Context({"chart": chart}))
    assert "2.0 KiB" in shown
    assert "<script>alert" not in shown
    assert "template" not in chart.figure["layout"]
    assert chart.figure["data"][0]["y"] == [1, 2048]


DAYS = Axes("Day", "Files")


def test_a_single_point_is_shown_as_numbers_and_not_drawn() -> None:
    alone = line_chart("x", title="X", labels=["2026-11-01"], series={"a": [1234]}, axes=DAYS)
    shown = Template("{% load lw %}{% chart chart %}").render(Context({"chart": alone}))
    assert "data-lw-chart" not in shown
    assert "<dd>1,234</dd>" in shown
    assert "2026-11-01" in shown
    assert shown.count("<table") == 1
    more = line_chart("x", title="X", labels=["1", "2"], series={"a": [1, 2]}, axes=DAYS)
    assert more.is_drawn


def test_every_axis_has_its_title_also_where_bars_lie_across() -> None:
    up = bar_chart("x", title="X", labels=["1", "2"], series={"a": [1, 2]}, axes=DAYS)
    across = bar_chart(
        "x", title="X", labels=["1", "2"], series={"a": [1, 2]}, axes=DAYS, is_across=True
    )
    for chart, named in ((up, ("xaxis", "yaxis")), (across, ("yaxis", "xaxis"))):
        titles = [chart.figure["layout"][axis]["title"]["text"] for axis in named]
        assert titles == ["Day", "Files"]
    assert up.head[0] == "Day"


def test_months_are_stacked_and_summed_up() -> None:
    months = {
        "freed": [(date(2026, 9, 1), 5), (date(2026, 11, 1), 2)],
        "kept": [(date(2026, 11, 1), 3)],
    }
    chart = month_chart("m", title="M", months=months, summed="freed", axes=DAYS)
    assert chart is not None
    assert chart.figure["layout"]["barmode"] == "stack"
    assert chart.figure["layout"]["xaxis"]["type"] == "category"
    assert chart.rows == (("2026-09", 5, 0, 5), ("2026-11", 2, 3, 7))
    assert month_chart("m", title="M", months={"freed": []}, summed="freed", axes=DAYS) is None


def test_what_was_done_is_marked_in_the_picture_and_in_its_table() -> None:
    chart = line_chart("x", title="X", labels=["1", "3"], series={"a": [1, 2]}, axes=DAYS)
    marked = with_marks(chart, {"2": "Compacted", "3": "Cleaned"}, head="Done")
    assert len(marked.figure["layout"]["shapes"]) == 2
    assert marked.rows == (("1", 1, ""), ("2", None, "Compacted"), ("3", 2, "Cleaned"))


def test_a_chart_of_bounds_marks_what_is_outside_of_them() -> None:
    points = [
        BandPoint("2026-11-01", 5.0, 4.0, 6.0),
        BandPoint("2026-11-02", None),
        BandPoint("2026-11-03", 9.0, 4.5, 6.5, is_bad=True, note="failed"),
    ]
    chart = band_chart("t", title="T", points=points, axes=Axes("Window", "rows"))
    traces = {one["name"]: one for one in chart.figure["data"]}
    assert traces["maximum"]["fill"] == "tonexty"
    assert [one["meta"] for one in chart.figure["data"]] == ["band", "band", "value", "bad"]
    assert list(traces["failed"]["x"]) == ["2026-11-03"]
    assert chart.rows[2] == ("2026-11-03", "9", "4.5", "6.5", "failed")
    assert chart.rows[1][1:4] == ("—", "—", "—")
    assert "type" not in chart.figure["layout"]["xaxis"], "days are drawn as days"
    one_side = [BandPoint("b", 1.0, 0.0), BandPoint("a", 2.0, 0.0)]
    chart = band_chart("t", title="T", points=one_side, axes=Axes("Window", "rows"))
    assert [one["meta"] for one in chart.figure["data"]] == ["bound", "value"]
    assert chart.figure["layout"]["xaxis"]["categoryarray"] == ["b", "a"]
