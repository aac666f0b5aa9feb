"""What the demo's lake holds: the plain data, the odd values, every kind of nonconforming path.

Ages are days before the lake is made, so that at the end of the played days some data is due, some
soon and some due but recently read.
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from itertools import product

from stack.lake.specs import DatabaseSpec, Maker, Part, TableSpec

SHOP = DatabaseSpec("shop", "alice", "alice/shop.db", "OBSERVE", "Captured from the shop's MariaDB")
DATABASES = (
    DatabaseSpec("sales", "alice", "alice/sales.db", "ACT", "Orders and what follows from them"),
    DatabaseSpec("web", "bob", "bob/web.db", "NOTIFY", "What visitors do on the site"),
    DatabaseSpec("risk", "carol", "carol/risk.db", "NOTIFY", "Scores, alerts and their features"),
    DatabaseSpec("finance", "dave", "dave/finance.db", "OBSERVE", "Postings and balances"),
    DatabaseSpec("media", "erin", "erin/media.db", "ACT", "Pictures and films"),
    DatabaseSpec("lab", "alice", "alice/lab.db", "OBSERVE", "Experiments, some in odd places"),
    DatabaseSpec("legacy", "dave", "dave/legacy.db", "OBSERVE", "Holds another database"),
    DatabaseSpec("legacy_inner", "dave", "dave/legacy.db/inner.db", "OBSERVE", "Lies in legacy"),
    DatabaseSpec("shared", "erin", "bob/shared.db", "OBSERVE", "Erin's, but in Bob's folder"),
    DatabaseSpec("archive", "carol", "carol/archive.db", "OBSERVE", "Holds a table of sales"),
    DatabaseSpec("live", "bob", "bob/live.db", "OBSERVE", "A table that is written all the time"),
    SHOP,
)

ODD_VALUES: Sequence[str | None] = (
    "plain",
    "two words",
    "100%",
    "a=b",
    "12:30:45",
    "grün",
    "日本",
    "it's",
    'say "hi"',
    "semi;colon",
    "hash#tag",
    "star*",
    "back\\slash",
    "a/b",
    "[x]^{y}",
    "%41",
    None,
)


def _days(today: date, n: int, *, read_from: int | None = None) -> list[Part]:
    """Return one partition a day, `n` days back; those older than `read_from` were just read."""
    return [
        Part(
            (str(today - timedelta(days=age)),),
            age,
            2.0 if read_from is not None and age >= read_from and age % 3 == 0 else None,
        )
        for age in range(n)
    ]


def _days_by(today: date, n: int, others: Iterable[str]) -> list[Part]:
    names = list(others)
    return [
        Part((str(today - timedelta(days=age)), name), age)
        for age, name in product(range(n), names)
    ]


def _sales(today: date) -> list[TableSpec]:
    dt = ("dt",)
    months = [
        Part((country, "2025", f"{month:02d}"), 30 * (13 - month))
        for country, month in product(("at", "de", "ch"), range(1, 13))
    ]
    return [
        TableSpec("sales", "orders", keys=dt, parts=_days(today, 400), ttl="365"),
        TableSpec(
            "sales",
            "order_lines",
            keys=("dt", "region"),
            parts=_days_by(today, 90, ("north", "south", "east", "west")),
            ttl="60",
        ),
        TableSpec("sales", "customers", level="0", ttl="60", age_days=900),
        TableSpec(
            "sales", "returns", "orc", keys=dt, parts=_days(today, 120, read_from=90), ttl="90"
        ),
        TableSpec("sales", "coupons_raw", "text", keys=dt, parts=_days(today, 60), ttl="30"),
        TableSpec("sales", "price_list", "orc", ttl="30", age_days=45),
        TableSpec(
            "sales", "carts", maker=Maker.DATASOURCE, keys=dt, parts=_days(today, 80), ttl="45"
        ),
        TableSpec(
            "sales",
            "daily_totals",
            "json",
            maker=Maker.DATASOURCE,
            location="alice/sales.db/daily totals",
            ttl="20",
            age_days=16,
        ),
        TableSpec(
            "sales",
            "invoices",
            keys=("country", "yr", "mon"),
            parts=months,
            location="alice/sales.db/invoices_external",
            ttl="330",
        ),
        TableSpec("sales", "promotions", level=None, age_days=200),
        TableSpec("sales", "exports", location="carol/archive.db/exports", ttl="30", age_days=50),
    ]


def _web(today: date) -> list[TableSpec]:
    dt = ("dt",)
    hours = [f"{hour:02d}" for hour in range(0, 24, 3)]
    odd = [Part((value,), 40 if index % 2 else 5) for index, value in enumerate(ODD_VALUES)]
    pairs = [
        Part((f"exp {index % 4}=x", value), 20 + index)
        for index, value in enumerate(ODD_VALUES[:12])
    ]
    return [
        TableSpec(
            "web",
            "page_views",
            keys=("dt", "hour"),
            parts=_days_by(today, 60, hours),
            ttl="50",
        ),
        TableSpec("web", "clicks", keys=dt, parts=_days(today, 200), ttl="180"),
        TableSpec("web", "sessions", "orc", keys=dt, parts=_days(today, 120), ttl="100"),
        TableSpec("web", "searches", "text", keys=dt, parts=_days(today, 90), ttl="60"),
        TableSpec(
            "web", "labels", "text", maker=Maker.INSERT, keys=("label",), parts=odd, ttl="30"
        ),
        TableSpec("web", "pages", level="0", ttl="60", age_days=400),
        TableSpec(
            "web",
            "crawl_log",
            "csv",
            maker=Maker.DATASOURCE,
            keys=dt,
            parts=_days(today, 40),
            ttl="20",
        ),
        TableSpec("web", "bots", keys=dt, parts=_days(today, 30), level=None),
        TableSpec(
            "web",
            "ab_tests",
            maker=Maker.INSERT,
            keys=("experiment", "variant"),
            parts=pairs,
            ttl="25",
        ),
    ]


def _risk(today: date) -> list[TableSpec]:
    return [
        TableSpec("risk", "scores", keys=("dt",), parts=_days(today, 150), ttl="120"),
        TableSpec(
            "risk",
            "alerts",
            "orc",
            keys=("dt", "severity"),
            parts=_days_by(today, 20, ("low", "high", "very high")),
            ttl="14",
        ),
        TableSpec("risk", "models", ttl="400", age_days=100),
        TableSpec("risk", "ttl_is_a_word", ttl="sixty", age_days=100),
        TableSpec("risk", "both_ttls", ttl="60", more={"ttl": "30"}, age_days=100),
        TableSpec("risk", "level_is_a_word", level="one", ttl="60", age_days=100),
    ]


def _finance(today: date) -> list[TableSpec]:
    unready = [
        Part((str(today - timedelta(days=age)),), age, None, {"commit": "false"})
        for age in range(10, 15)
    ]
    ready = [Part((str(today - timedelta(days=age)),), age) for age in range(5)]
    return [
        TableSpec("finance", "postings", keys=("dt",), parts=_days(today, 100), ttl="30"),
        TableSpec("finance", "balances", "orc", ttl="10", age_days=30, read_days_ago=3),
        TableSpec("finance", "fx_rates", "text", keys=("dt",), parts=_days(today, 40), ttl="35"),
        TableSpec("finance", "budget", "orc", maker=Maker.DATASOURCE, ttl="90", age_days=40),
        TableSpec("finance", "payments", keys=("dt",), parts=[*ready, *unready], ttl="8"),
    ]


def _media(today: date) -> list[TableSpec]:
    dt = ("dt",)
    odd_place = "erin/media.db/cap tions %41=ü"
    return [
        TableSpec("media", "images", keys=dt, parts=_days(today, 50), ttl="30"),
        TableSpec(
            "media",
            "videos",
            "orc",
            keys=dt,
            parts=_days(today, 30),
            location="erin/media.db/videos_external",
            ttl="24",
        ),
        TableSpec("media", "thumbs", location="erin/media.db/gone", ttl="30", age_days=60),
        TableSpec("media", "captions", "text", location=odd_place, ttl="30", age_days=33),
        TableSpec("media", "uploads", owner="zoe", ttl="30", age_days=31),
        TableSpec("media", "transcodes", "text", keys=dt, parts=_days(today, 30), ttl="28"),
    ]


def _odd_places(today: date) -> list[TableSpec]:
    dt = ("dt",)
    few = _days(today, 6)
    return [
        TableSpec("lab", "outer_t", ttl="30", age_days=50),
        TableSpec("lab", "inner_t", location="alice/lab.db/outer_t/inner", ttl="30", age_days=50),
        TableSpec("lab", "outside", location="alice/outside", ttl="30", age_days=50),
        TableSpec("lab", "stray_parts", keys=dt, parts=few, ttl="3"),
        TableSpec("lab", "twin_a", location="alice/lab.db/twins", ttl="30", age_days=40),
        TableSpec("lab", "twin_b", location="alice/lab.db/twins", ttl="30", age_days=40),
        TableSpec("lab", "dots", ttl="30", age_days=40),
        TableSpec("lab", "far_away", ttl="30", age_days=40),
        TableSpec("lab", "probes", "text", keys=dt, parts=few, ttl="60"),
        TableSpec("legacy", "old_logs", "text", keys=dt, parts=few, ttl="2"),
        TableSpec("legacy_inner", "deep_logs", "text", keys=dt, parts=few, ttl="60"),
        TableSpec("shared", "notes", "text", ttl="30", age_days=45),
        TableSpec("archive", "boxes", ttl="300", age_days=100),
    ]


def tables(today: date) -> list[TableSpec]:
    """Return every table that Spark makes as a Hive or Spark table."""
    return [
        *_sales(today),
        *_web(today),
        *_risk(today),
        *_finance(today),
        *_media(today),
        *_odd_places(today),
    ]
