"""What every refusal says, on pages and in the API: its code, its reason and the next step."""

import re

from django.http.response import HttpResponseBase

HEADINGS = {
    400: "That cannot be done as asked",
    403: "You may not do this",
    404: "Not found",
    409: "Somebody was first",
}


def wrong_words(path: str, answer: HttpResponseBase) -> str:
    """Say what is missing in a refusal; empty when it speaks."""
    status = answer.status_code
    text = answer.content.decode()  # type: ignore[attr-defined]  # no refusal is streamed
    if "Traceback" in text or "Error(" in text or "/site-packages/" in text:
        return "shows its inside"
    if path.startswith("/api/"):
        data = answer.json()  # type: ignore[attr-defined]  # the test client adds it
        return "" if all(data.get(k) for k in ("code", "message", "next_step")) else str(data)
    heading = f"<h1>{HEADINGS[status]}</h1>"
    has_code = re.search(r"<dt>Code</dt><dd><code>[a-z_]+\.[a-z_]+</code></dd>", text)
    has_message = re.search(r'<p class="lw-error-message">[A-Z][^<]{12,}\.</p>', text)
    return "" if heading in text and has_code and has_message else text[-800:]
