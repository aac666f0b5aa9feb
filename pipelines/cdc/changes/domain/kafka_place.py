"""Where topics of Kafka are, and how a client logs in there; its password is not part of it."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from portal.lake.errors import RuleViolation

VARIABLE_PREFIX = "LAKEWARDEN_CDC_PASSWORD_"
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
_SERVER = re.compile(r"(\[[0-9A-Fa-f:]{2,45}\]|[A-Za-z0-9_.-]{1,253}):(\d{1,5})\Z")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_PASSWORD_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}\Z")
_MOST_PORT = 65535
_MOST_SERVERS = 20
_LONGEST_USER = 80


class KafkaPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The brokers, and a log-in by SASL where they want one."""

    servers: str
    """`host:port`, several between commas."""
    topic: str = ""
    """The changelog's topic; `<topic>.headers` and `<topic>.schemas` lie beside it."""
    user: str = ""
    """Empty: without a log-in."""
    password_name: str = ""
    """A file of this name, or the environment variable LAKEWARDEN_CDC_PASSWORD_<this>, has it."""
    mechanism: str = MECHANISMS[0]
    ssl_ca: str = ""
    """Absolute path of a PEM file with the brokers' signer; empty: without TLS."""

    @property
    def password_variable(self) -> str:
        """The environment variable that holds the password; empty without a log-in."""
        return f"{VARIABLE_PREFIX}{self.password_name}" if self.user else ""

    @property
    def protocol(self) -> str:
        """Kafka's `security.protocol`."""
        return f"{'SASL_' if self.user else ''}{'SSL' if self.ssl_ca else 'PLAINTEXT'}"

    def password(self, environment: Mapping[str, str]) -> str:
        """Return the password; empty without a log-in.

        Raises:
            RuleViolation: `pipeline.password`, the environment variable is not set.
        """
        if not self.user:
            return ""
        found = environment.get(self.password_variable)
        if found is None:
            raise RuleViolation(
                "pipeline.password",
                f"The environment variable {self.password_variable} is not set, and the folder "
                "that LAKEWARDEN_CAPTURE_PASSWORD_DIR names has no file "
                f"{self.password_name}. Write the password into such a file on the hosts of site, "
                "workers and manage.py cdc_capture, and cancel the run that applies changes: the "
                "next one has it.",
                field="kafka_password_name",
            )
        return found


def check_place(place: KafkaPlace, *, has_topic: bool) -> None:
    """Refuse what cannot be the place of topics.

    Raises:
        RuleViolation: `pipeline.spec`.
    """
    servers = [one.strip() for one in place.servers.split(",")]
    if not all(_is_server(one) for one in servers) or len(servers) > _MOST_SERVERS:
        raise _refused("kafka_servers", "Give bootstrap servers as host:port, between commas.")
    if has_topic and not is_topic(place.topic):
        raise _refused("kafka_topic", f"{place.topic[:100]!r} is no name of a topic.")
    if not place.user:
        return
    if len(place.user) > _LONGEST_USER or not place.user.isprintable():
        raise _refused("kafka_user", f"Give a user of 1-{_LONGEST_USER} signs, or none.")
    if not _PASSWORD_NAME.match(place.password_name):
        raise _refused(
            "kafka_password_name",
            "Name the file or the end of the environment variable that has the password, in A-Z, "
            f"0-9 and _: KAFKA for the file KAFKA, or {VARIABLE_PREFIX}KAFKA.",
        )
    if place.mechanism not in MECHANISMS:
        raise _refused("kafka_mechanism", f"Choose one of {', '.join(MECHANISMS)}.")


def check_ca(path: str, *, field: str) -> None:
    """Refuse what is no absolute path of a certificate; empty is none.

    Raises:
        RuleViolation: `pipeline.spec`.
    """
    if "\x00" in path or (path and not path.startswith("/")):
        raise _refused(field, "Give an absolute path of a certificate, or nothing.")


def is_topic(name: str) -> bool:
    """Whether Kafka takes a text as the name of a topic."""
    return bool(_TOPIC.match(name)) and name not in {".", ".."}


def java_settings(place: KafkaPlace, *, password: str, certificates: str) -> dict[str, str]:
    """Return the settings of a Java client; `certificates` is what `ssl_ca` holds."""
    settings = {"bootstrap.servers": place.servers, "security.protocol": place.protocol}
    if place.user:
        module = "plain.Plain" if place.mechanism == "PLAIN" else "scram.Scram"
        user, secret = map(_quoted, (place.user, password))
        settings |= {
            "sasl.mechanism": place.mechanism,
            "sasl.jaas.config": f"org.apache.kafka.common.security.{module}LoginModule required "
            f"username={user} password={secret};",
        }
    if place.ssl_ca:
        # As text: the file is on the driver's host alone.
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates}
    return settings


def topics_there(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Return the topics that patterns name, `*` for any signs; Kafka's own are left out."""
    forms = [re.compile(".*".join(map(re.escape, one.split("*")))) for one in patterns]
    found = {one for one in names if any(form.fullmatch(one) for form in forms)}
    return sorted(one for one in found if not one.startswith("__"))


def _is_server(text: str) -> bool:
    found = _SERVER.match(text)
    return found is not None and 0 < int(found[2]) <= _MOST_PORT


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _refused(field: str, message: str) -> RuleViolation:
    return RuleViolation("pipeline.spec", message, field=field)
