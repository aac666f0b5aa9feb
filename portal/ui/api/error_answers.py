"""Describes in the OpenAPI document which errors an operation answers with.

The views raise them; `portal.ui.frame.errors` gives all of them one form. A test asks every address
and compares the statuses that come with the ones that are listed here.
"""

from typing import Any

_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_ALWAYS = {
    403: "You are not signed in, or may not do this.",
    404: "It does not exist, or you may not see it.",
    406: "Only JSON is answered.",
    429: "Too many requests; `Retry-After` says after how many seconds to go on.",
    503: "The portal's database does not answer.",
}
_WITH_TOKEN = {401: "No API token was sent, or it is wrong, ended or expired."}
_WITH_INPUT = {400: "What was sent breaks a rule; the message says which."}
_CHANGES = {
    409: "Somebody was first: what you saw has changed.",
    413: "More was sent at once than is taken in.",
    415: "The body is not JSON.",
    502: "Another system failed or did not answer in time.",
}
_ERROR = {
    "type": "object",
    "description": "Every error of the API.",
    "properties": {
        "code": {"type": "string", "description": "Stable, for programs: `plan.changed`."},
        "message": {"type": "string", "description": "What happened, in words."},
        "kind": {"type": "string"},
        "fields": {"type": "object", "additionalProperties": {}},
        "next_step": {"type": "string"},
    },
    "required": ["code", "message", "fields", "next_step"],
}


def describe_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the statuses that an operation can answer with; what a view says itself is kept."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["Error"] = _ERROR
    components["responses"] = {
        f"Error{status}": _answer(words)
        for status, words in sorted((_ALWAYS | _WITH_TOKEN | _WITH_INPUT | _CHANGES).items())
    }
    for path in result["paths"].values():
        for method in _METHODS & path.keys():
            responses = path[method]["responses"]
            for status in _statuses(method, path[method]):
                reference = {"$ref": f"#/components/responses/Error{status}"}
                responses.setdefault(str(status), reference)
    return result


def _statuses(method: str, operation: dict[str, Any]) -> list[int]:
    found = set(_ALWAYS)
    if any("apiToken" in way for way in operation.get("security", [])):
        found |= set(_WITH_TOKEN)
    if operation.get("parameters") or "requestBody" in operation:
        found |= set(_WITH_INPUT)
    if method != "get":
        found |= _CHANGES.keys() | _WITH_INPUT.keys()
    return sorted(found)


def _answer(words: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}
