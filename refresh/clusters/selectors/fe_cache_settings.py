"""Cache settings of a cluster's front ends, and which of them conflict with the portal."""

from collections.abc import Iterable
from dataclasses import dataclass

from refresh.clusters.domain.fe_cache_settings import OwnSetting, judge_catalog, judge_front_end
from refresh.core.domain.versions import Version
from refresh.models import ClusterFrontEnd


@dataclass(frozen=True, slots=True)
class Judged:
    """A setting that is not good for us, and the front ends that have it so."""

    setting: OwnSetting
    front_ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting: where it stands, and its values with the front ends that have them."""

    scope: str
    key: str
    values: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def differs(self) -> bool:
        """Whether the front ends are set differently."""
        return len(self.values) > 1


def judged_settings(front_ends: Iterable[ClusterFrontEnd]) -> list[Judged]:
    """Judge the settings of all front ends; what is alike on several stands once."""
    found: dict[OwnSetting, list[str]] = {}
    for fe in _read(front_ends):
        version, config = Version.read(fe.version), fe.config.get("front_end", {})
        judged = judge_front_end(config, version=version)
        for name, properties in sorted(fe.config.get("catalogs", {}).items()):
            judged += judge_catalog(name, properties, config=config, version=version)
        for one in judged:
            found.setdefault(one, []).append(fe.host)
    return [Judged(one, tuple(hosts)) for one, hosts in found.items()]


def setting_rows(front_ends: Iterable[ClusterFrontEnd]) -> list[SettingRow]:
    """Return all settings as they are, by front end and by catalog."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for fe in _read(front_ends):
        scopes = {"": fe.config.get("front_end", {}), **fe.config.get("catalogs", {})}
        for scope, settings in scopes.items():
            for key, value in settings.items():
                found.setdefault((scope, key), {}).setdefault(value, []).append(fe.host)
    return [
        SettingRow(scope, key, tuple((value, tuple(hosts)) for value, hosts in values.items()))
        for (scope, key), values in sorted(found.items())
    ]


def _read(front_ends: Iterable[ClusterFrontEnd]) -> list[ClusterFrontEnd]:
    return [fe for fe in front_ends if fe.config_at is not None]
