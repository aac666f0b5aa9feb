"""Checks that pages, mails, errors and docstrings use the glossary's words, not older ones.

Identifiers, addresses, error codes and what stands in backquotes are not prose and may keep a word.
"""

import io
import re
import tokenize
from collections.abc import Iterator

from tests.architecture.source import PRODUCT, modules, page_texts

OLD = re.compile(
    r"(?<![\w/.\-])(?:"
    r"red buttons?|drills?|clean[- ]now|wish(?:es)?|still[- ]read|waivers?|fix plans?"
    r"|enrolments?|enrols?|drawn up|draws? up|drawing up|anew|mended|mends?|giants?|quiet hours"
    r"|last chance|lapses?|lapsed|amid|keepers?|left in peace"
    r")(?![\w\-/=(]|\.\w)",
    re.IGNORECASE,
)
QUOTED = re.compile(r"`[^`]*`|\{[^{}]*\}")
TAG = re.compile(r"\{[#%{].*?[#%}]\}|<[^>]*>", re.DOTALL)
KEPT = ("FAST, SLOW or GIANT",)
"""What names a stored value."""


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and the strings of more than one word, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and re.search(r"\w \w", token.string)
        ):
            yield token.start[0], QUOTED.sub(" ", token.string)


def test_code_is_documented_in_the_words_of_the_glossary() -> None:
    found = [
        f"{module.name}:{line}: {hit.group(0)}"
        for module in modules(*PRODUCT)
        if OLD.search(module.text)
        for line, text in _prose(module.text)
        for hit in OLD.finditer(text)
        if not any(kept in text for kept in KEPT)
    ]
    assert found == [], "see docs/glossary.md"


def test_pages_and_mails_use_the_words_of_the_glossary() -> None:
    found = [
        f"{name}: {hit.group(0)}"
        for name, text in page_texts()
        for hit in OLD.finditer(TAG.sub(" ", text))
    ]
    assert found == [], "see docs/glossary.md"


def test_old_words_are_found() -> None:
    assert OLD.search("the red button is on")
    assert not OLD.search("portal/safety/red_button.py, wish_new, waiver.missing")
