"""Checks the template of addresses of drivers' logs on a cluster, when the settings are read."""

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

NAME = "LAKEWARDEN_DRIVER_LOG_URL"
PLACE = "{application_id}"


def driver_log_template(text: str) -> str:
    """Return a template of addresses; empty = there is none.

    Raises:
        ImproperlyConfigured: no address can be made of it, or it holds a password.
    """
    text = text.strip()
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        host, has_user = parts.hostname, "@" in parts.netloc
    except ValueError:
        host, has_user, parts = None, False, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or not text.isprintable() or " " in text:
        raise ImproperlyConfigured(f"{NAME} is no http or https address: {text!r}.")
    if has_user:
        raise ImproperlyConfigured(f"{NAME} holds a user or password; people read the address.")
    if text.count(PLACE) != 1 or PLACE in parts.netloc or set("{}") & set(text.replace(PLACE, "")):
        raise ImproperlyConfigured(
            f"{NAME} must have {PLACE} once, after the host, and no other braces: {text!r}."
        )
    return text
