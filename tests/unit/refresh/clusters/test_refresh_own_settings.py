"""Own settings of front ends that work against the portal, and addresses as somebody wrote them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.fe_cache_settings import (
    KEYS,
    Effect,
    judge_catalog,
    judge_front_end,
    kept,
)
from refresh.core.domain.versions import Version

NEW, FORMER, OLD = (Version.read(text) for text in ("3.5.0", "3.1.0", "2.2.9"))
NEVER = {
    "metastore_cache_ttl_sec": "315360000",
    "metastore_cache_refresh_interval_sec": "315360000",
    "remote_file_cache_ttl_sec": "315360000",
    "remote_file_cache_refresh_interval_sec": "315360000",
}
values = st.one_of(st.integers().map(str), st.sampled_from(["true", "FALSE", " true "]), st.text())
settings_of = st.dictionaries(st.sampled_from([*KEYS, *NEVER, "enable_metastore_cache"]), values)


def judged(**properties: str) -> list[str]:
    return [one.key for one in judge_catalog("hive", properties, config={}, version=NEW)]


def test_a_catalog_that_never_renews_by_itself_is_well() -> None:
    assert judge_catalog("hive", NEVER, config={}, version=NEW) == []


def test_what_was_never_set_counts_with_the_default_of_the_version() -> None:
    often = "remote_file_cache_refresh_interval_sec"
    assert judged() == ["metastore_cache_refresh_interval_sec", often]
    former = judge_catalog("hive", {}, config={}, version=FORMER)
    assert [one.key for one in former] == [often], "7200 s before 3.3"


@pytest.mark.parametrize(
    ("key", "value", "is_against"),
    [
        ("metastore_cache_ttl_sec", "3599", True),
        ("metastore_cache_ttl_sec", "3600", False),
        ("metastore_cache_refresh_interval_sec", "60", True),
        ("metastore_cache_refresh_interval_sec", "soon", False),
        ("remote_file_cache_ttl_sec", "10", True),
        ("enable_metastore_cache", "False", True),
        ("enable_metastore_cache", "true", False),
    ],
)
def test_a_property_of_a_catalog_is_judged(key: str, value: str, is_against: bool) -> None:
    found = judged(**{**NEVER, key: value})
    assert found == ([key] if is_against else [])


def test_a_cache_that_is_off_has_no_ages_to_judge() -> None:
    assert judged(enable_metastore_cache="false", enable_remote_file_cache="false") == [
        "enable_metastore_cache"
    ]


def test_event_sync_of_a_catalog_alone_does_nothing() -> None:
    key = "enable_hms_events_incremental_sync"
    asked = {**NEVER, key: "true"}
    idle = judge_catalog("hive", asked, config={key: "false"}, version=NEW)
    assert [(one.catalog, one.key, one.effect) for one in idle] == [("hive", key, Effect.IDLE)]
    assert judge_catalog("hive", asked, config={key: "true"}, version=NEW) == []
    assert [one.key for one in judge_front_end({key: "TRUE"}, version=NEW)] == [key]


@pytest.mark.parametrize(
    ("key", "value", "version", "is_against"),
    [
        ("enable_background_refresh_connector_metadata", "true", NEW, True),
        ("enable_background_refresh_connector_metadata", "false", NEW, False),
        ("hive_meta_store_timeout_s", "12", NEW, False),
        ("hive_meta_store_timeout_s", "13", NEW, True),
        ("hive_meta_cache_ttl_s", "60", OLD, True),
        ("hive_meta_cache_ttl_s", "60", NEW, False),
    ],
)
def test_a_setting_of_a_front_end_is_judged(
    key: str, value: str, version: Version, is_against: bool
) -> None:
    found = judge_front_end({key: value}, version=version)
    assert [one.key for one in found] == ([key] if is_against else [])


@given(settings_of, settings_of)
def test_whatever_stands_there_is_judged_with_its_own_value_and_a_sentence(
    config: dict[str, str], properties: dict[str, str]
) -> None:
    for version in (NEW, FORMER, OLD, Version.read("main-abc")):
        found = judge_front_end(config, version=version)
        found += judge_catalog("hive", properties, config=config, version=version)
        for one in found:
            said = properties if one.catalog else config
            assert one.reason.endswith(".")
            assert one.value == said.get(one.key, one.value)
    assert kept({**config, "aws.s3.secret_key": "x"}).keys() <= set(KEYS)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("fe1.example.org:9030", "fe1.example.org", 9030),
        (" 10.0.0.2:19030 ", "10.0.0.2", 19030),
        ("fe1", "fe1", 9030),
        ("[2001:db8::1]:9030", "2001:db8::1", 9030),
        ("[::1]", "::1", 9030),
    ],
)
def test_an_address_is_read(text: str, host: str, port: int) -> None:
    place = Place.read(text)
    assert (place.host, place.port) == (host, port)
    assert Place.read(str(place)) == place


@pytest.mark.parametrize(
    "text",
    ["", ":9030", "fe1:", "fe1:0", "fe1:65536", "fe1:9030x", "fe1:٣", "fe 1:9030", "fe1..a:1",
     "höst:9030", "-fe:9030", "a" * 64 + ":1", "fe1:9030/x", "http://fe1:9030", "::1:9030", "[]:1",
     "[fe1]:9030", "fe1:9030\x00", "'; drop:1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_words(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        Place.read(text)
    assert refused.value.code == "cluster.address"


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        place = Place.read(text)
    except RuleViolation:
        return
    assert Place.read(str(place)) == place


def test_a_setting_that_does_nothing_is_shown_as_it_stands() -> None:
    key = "enable_hms_events_incremental_sync"
    (found,) = judge_catalog(
        "hive", {**NEVER, key: " true "}, config={**NEVER, key: "false"}, version=NEW
    )
    assert (found.key, found.value) == (key, " true ")
