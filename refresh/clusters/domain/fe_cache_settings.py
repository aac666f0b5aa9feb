"""Cache settings of a front end that work against a portal that keeps the caches fresh.

Front ends renew and forget by themselves too. That is not wrong, but it loads the metastore unseen,
throws away what was just loaded, or does nothing at all although it looks as if it did.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from refresh.core.domain.versions import Version

Settings = Mapping[str, str]

KEYS = (
    "enable_background_refresh_connector_metadata",
    "background_refresh_metadata_interval_millis",
    "background_refresh_metadata_time_secs_since_last_access_secs",
    "background_refresh_file_metadata_concurrency",
    "enable_background_refresh_resource_table_metadata",
    "enable_refresh_hive_partitions_statistics",
    "enable_hms_events_incremental_sync",
    "hms_events_polling_interval_ms",
    "hms_events_batch_size_per_rpc",
    "enable_hms_parallel_process_evens",
    "hms_process_events_parallel_num",
    "hive_meta_store_timeout_s",
    "hive_meta_load_concurrency",
    "hive_meta_cache_refresh_interval_s",
    "hive_meta_cache_ttl_s",
    "max_hive_partitions_per_rpc",
)
PATTERNS = ("%background_refresh%", "%hms%", "%hive%")

_EVENTS = "enable_hms_events_incremental_sync"
_BACKGROUND = "enable_background_refresh_connector_metadata"
_SHORTEST = 3600
# The portal listens this long beyond a statement's budget: five tries of the metastore.
_TRIES, _LISTENS = 5, 60
_SHORT_SINCE = (3, 3, 0)
_READ_EVERY = timedelta(days=1)


class Effect(StrEnum):
    """What a setting does to us."""

    AGAINST = "AGAINST"
    IDLE = "IDLE"


@dataclass(frozen=True, slots=True)
class OwnSetting:
    """A setting that works against the portal, or does nothing, and why."""

    catalog: str
    key: str
    value: str
    effect: Effect
    reason: str


def are_due(*, read_at: datetime | None, read_start: str, start: str, now: datetime) -> bool:
    """Return whether the settings of a front end must be read: never yet, again, or for a day not.

    What was set by ADMIN SET is lost when it starts again.
    """
    if read_at is None or (start and start != read_start):
        return True
    return now - read_at >= _READ_EVERY


def judge_front_end(config: Settings, *, version: Version) -> list[OwnSetting]:
    """Judge the settings of one front end; keys that it does not know are not judged."""
    found = list(_of_events_and_background(config))
    timeout = _number(config.get("hive_meta_store_timeout_s"))
    if timeout is not None and timeout * _TRIES > _LISTENS:
        found.append(
            _against(
                config,
                "hive_meta_store_timeout_s",
                f"A metastore that hangs keeps a refresh silent for {timeout * _TRIES} s; the "
                f"portal hangs up {_LISTENS} s after the statement's budget and knows nothing "
                f"then. Set at most {_LISTENS // _TRIES}.",
            )
        )
    if version.dialect == "RESOURCES":
        found += _ages(
            config,
            ttl="hive_meta_cache_ttl_s",
            interval="hive_meta_cache_refresh_interval_s",
        )
    return found


def judge_catalog(
    name: str, properties: Settings, *, config: Settings, version: Version
) -> list[OwnSetting]:
    """Judge a catalog's properties, with the defaults of the version where none was set."""
    known = {**_defaults(version), **properties}
    off = [key for key in ("enable_metastore_cache",) if _is(known, key, "false")]
    found = [
        _against(
            known,
            key,
            "It keeps nothing of the metastore, so nothing in it gets stale: each refresh only "
            "costs calls. Leave it out, or switch its cache on.",
        )
        for key in off
    ]
    if not off:
        found += _ages(
            known, ttl="metastore_cache_ttl_sec", interval="metastore_cache_refresh_interval_sec"
        )
    if not _is(known, "enable_remote_file_cache", "false"):
        found += _ages(
            known,
            ttl="remote_file_cache_ttl_sec",
            interval="remote_file_cache_refresh_interval_sec",
        )
    if _is(known, _EVENTS, "true") and _is(config, _EVENTS, "false"):
        reason = (
            "Does nothing: event sync begins only when fe.conf of each front end switches it on. "
            "Nothing is lost by it, the portal follows the events."
        )
        found.append(OwnSetting("", _EVENTS, known[_EVENTS], Effect.IDLE, reason))
    return [OwnSetting(name, one.key, one.value, one.effect, one.reason) for one in found]


def kept(config: Settings) -> dict[str, str]:
    """Keep what is worth storing of a front end's settings."""
    return {key: config[key] for key in KEYS if key in config}


def _of_events_and_background(config: Settings) -> Iterable[OwnSetting]:
    if _is(config, _EVENTS, "true"):
        yield _against(
            config,
            _EVENTS,
            "It polls the metastore's events itself, on each front end, and holds the lock that "
            "partition refreshes wait for. It forgets its position at a restart and never says "
            "what it missed. Switch it off while the portal refreshes.",
        )
    if _is(config, _BACKGROUND, "true"):
        every = _number(config.get("background_refresh_metadata_interval_millis"))
        often = f" every {every // 1000} s" if every else ""
        yield _against(
            config,
            _BACKGROUND,
            f"It loads all tables in use again{often}, changed or not, beside our refreshes. "
            "Switch it off; the portal tells it what changed.",
        )


def _ages(known: Settings, *, ttl: str, interval: str) -> Iterable[OwnSetting]:
    kept_for, renewed = _number(known.get(ttl)), _number(known.get(interval))
    if kept_for is not None and kept_for < _SHORTEST:
        yield _against(
            known,
            ttl,
            f"What a refresh loads is thrown away after {kept_for} s, and the next query waits "
            f"for the metastore. Set at least {_SHORTEST}.",
        )
    if renewed is not None and renewed < _SHORTEST and (kept_for is None or renewed < kept_for):
        yield _against(
            known,
            interval,
            f"Each entry in use is loaded again after {renewed} s, one by one and changed or not: "
            f"calls that the portal neither sees nor bounds. Setting at least {_SHORTEST} saves "
            "them and gives something up: what was written without an event or a hook is then seen "
            f"at the portal's next sweep, and no longer by itself after about {renewed} s.",
        )


def _defaults(version: Version) -> Settings:
    often = version.release is None or version.release >= _SHORT_SINCE
    return {
        "metastore_cache_ttl_sec": "86400",
        "metastore_cache_refresh_interval_sec": "60" if often else "7200",
        "remote_file_cache_ttl_sec": "129600",
        "remote_file_cache_refresh_interval_sec": "60",
    }


def _against(known: Settings, key: str, reason: str) -> OwnSetting:
    return OwnSetting("", key, known[key], Effect.AGAINST, reason)


def _is(known: Settings, key: str, value: str) -> bool:
    return known.get(key, "").strip().lower() == value


def _number(text: str | None) -> int | None:
    plain = (text or "").strip()
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= 18 else None
