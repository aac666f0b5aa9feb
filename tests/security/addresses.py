"""Every address of the site, read from the resolver, so that none can be forgotten."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver


def all_names() -> list[str]:
    """Return the full name of every URL pattern."""
    return sorted(_names(get_resolver(), ""))


def _names(resolver: URLResolver, namespace: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _names(pattern, inner)
        elif isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name or pattern.pattern}"
