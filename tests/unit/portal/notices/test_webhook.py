"""Tests addresses of webhooks: only named hosts, only public addresses."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.notices.webhook import is_allowed_address, webhook_target

HOSTS = ("hooks.slack.com", "chat.example:8443")


def code_of(url: str, *, allow_plain: bool = False) -> str:
    with pytest.raises(RuleViolation) as caught:
        webhook_target(url, hosts=HOSTS, allow_plain=allow_plain)
    assert "secret" not in caught.value.message
    return caught.value.code


def test_a_named_host_is_taken_apart() -> None:
    target = webhook_target(
        "https://Hooks.Slack.com/services/a?b=c", hosts=HOSTS, allow_plain=False
    )
    assert (target.host, target.port, target.path) == ("hooks.slack.com", 443, "/services/a?b=c")
    assert target.name == "hooks.slack.com"
    other = webhook_target("https://chat.example:8443", hosts=HOSTS, allow_plain=False)
    assert (other.name, other.path) == ("chat.example:8443", "/")


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://hooks.slack.com/secret", "webhook.scheme"),
        ("file:///etc/secret", "webhook.address"),
        ("gopher://hooks.slack.com/secret", "webhook.scheme"),
        ("https://evil.example/secret", "webhook.host"),
        ("https://hooks.slack.com.evil.example/secret", "webhook.host"),
        ("https://hooks.slack.com@evil.example/secret", "webhook.address"),
        ("https://u:p@hooks.slack.com/secret", "webhook.address"),
        ("https://hooks.slack.com:22/secret", "webhook.host"),
        ("https://chat.example/secret", "webhook.host"),
        ("https://hooks.slack.com:x/secret", "webhook.address"),
        ("https://hooks.slack.com/a\r\nX: secret", "webhook.address"),
        ("https://hooks.slack.com/a secret", "webhook.address"),
        ("https://[::1/secret", "webhook.address"),
        ("", "webhook.address"),
    ],
)
def test_any_other_address_is_refused_without_telling_it(url: str, code: str) -> None:
    assert code_of(url) == code


def test_plain_http_needs_leave() -> None:
    url = "http://hooks.slack.com/x"
    assert webhook_target(url, hosts=HOSTS, allow_plain=True).port == 80
    assert code_of("ftp://hooks.slack.com/x", allow_plain=True) == "webhook.scheme"


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "0.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::",
    ],
)  # fmt: skip
def test_inner_addresses_are_refused_however_they_are_wrapped(text: str) -> None:
    assert not is_allowed_address(text, networks=())


def test_a_public_address_and_an_allowed_network_are_not_refused() -> None:
    assert is_allowed_address("34.226.1.1", networks=())
    assert is_allowed_address("2600:1f18::1", networks=())
    assert is_allowed_address("10.1.2.3", networks=("10.1.0.0/16",))
    assert is_allowed_address("::ffff:10.1.2.3", networks=("10.1.0.0/16",))
    assert not is_allowed_address("10.2.2.3", networks=("10.1.0.0/16",))


@given(address=st.ip_addresses(v=4))
def test_a_wrapped_address_is_judged_like_the_bare_one(address: ipaddress.IPv4Address) -> None:
    bare = is_allowed_address(str(address), networks=())
    assert is_allowed_address(f"::ffff:{address}", networks=()) == bare
    assert not bare or not (address.is_private or address.is_loopback or address.is_link_local)
