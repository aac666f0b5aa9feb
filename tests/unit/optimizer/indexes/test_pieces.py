"""Words and n-grams are those of each string alone, and a match asks for no piece too many."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.like_patterns import (
    Run,
    TextMatch,
    contains,
    ends_with,
    equal_to,
    has_token,
    like,
    starts_with,
)
from optimizer.indexes.domain.pieces import (
    code_points,
    has_odd_lower,
    ngrams,
    ngrams_of,
    tokens,
    tokens_of,
)

texts = st.text(alphabet=st.sampled_from("abAB01 -_%é世😀K\n"), max_size=10)


def folded(text: str) -> str:
    return re.sub("[A-Z]", lambda found: found[0].lower(), text)


def plain_tokens(text: str) -> list[bytes]:
    return [one.encode()[:256] for one in re.findall("[0-9a-z]+", folded(text))]


def plain_ngrams(text: str, n: int) -> list[int]:
    found = []
    for at in range(len(text) - n + 1):
        number = 0
        for letter in folded(text)[at : at + n]:
            number = number << 21 | ord(letter)
        found.append(number)
    return found


@given(st.lists(texts), st.integers(1, 3))
def test_pieces_of_all_strings_are_those_of_each(strings: list[str], n: int) -> None:
    packed = ByteStrings.of(one.encode() for one in ["cut", *strings, "off"])
    packed = ByteStrings(packed.offsets[1:-1], packed.data)
    found = tokens(packed)
    mine = [(at, word) for at, one in enumerate(strings) for word in plain_tokens(one)]
    assert list(zip(found.owners.tolist(), found.words, strict=True)) == mine
    points = code_points(packed)
    assert points is not None
    grams = ngrams(*points, n)
    wanted = [(at, number) for at, one in enumerate(strings) for number in plain_ngrams(one, n)]
    assert list(zip(grams.owners.tolist(), grams.numbers.tolist(), strict=True)) == wanted


def test_a_word_stands_by_its_first_256_bytes() -> None:
    assert tokens_of("x" * 300) == [b"x" * 256]


@pytest.mark.parametrize("bad", [[b"\xff"], [b"ok", b"\xc3", b"\xa9"], [b"\xed\xa0\x80"]])
def test_what_is_not_utf8_has_no_pieces(bad: list[bytes]) -> None:
    assert code_points(ByteStrings.of(bad)) is None


def test_letters_that_lower_to_ascii_are_seen() -> None:
    assert has_odd_lower(np.array([0x212A], np.uint64))
    assert not has_odd_lower(np.array([75, 233], np.uint64))
    # No other letter becomes ASCII when it is lowered.
    lowered = [
        code for code in range(128, 0x110000) if any(one.isascii() for one in chr(code).lower())
    ]
    assert lowered == [0x130, 0x212A]


def test_a_pattern_is_taken_apart_at_its_wildcards() -> None:
    assert like("a%b_c") == TextMatch(
        (Run("a", True, False), Run("b", False, False), Run("c", False, True))
    )
    assert like(r"50\%\_\\x", "\\") == equal_to(r"50%_\x")
    assert like("50!%", "!") == equal_to("50%")
    assert like("50\\%", None) == starts_with("50\\")
    assert like("%word%") == contains("word")
    assert like("%end") == ends_with("end")
    assert like("%%") == TextMatch(())
    assert like("cut\\") is None
    assert like("\\x") is None


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (contains("half word half"), [b"word"]),
        (contains("half"), []),
        (contains(" whole "), [b"whole"]),
        (starts_with("first half"), [b"first"]),
        (ends_with("half last"), [b"last"]),
        (equal_to("both are"), [b"both", b"are"]),
        (like("%a b_c d%"), []),
        (has_token("Word"), [b"word"]),
        (has_token("two words"), [b"two", b"words"]),
    ],
)
def test_only_words_bounded_on_both_sides_are_asked_for(
    match: TextMatch, words: list[bytes]
) -> None:
    assert match.tokens() == words


def test_a_run_shorter_than_the_ngram_asks_for_nothing() -> None:
    assert contains("ab").ngrams(3) == []
    assert contains("abc").ngrams(3) == ngrams_of("abc", 3)
    assert contains("aé世", lowered=True).ngrams(1) == ngrams_of("a", 1)


def as_regex(pattern: str) -> re.Pattern[str]:
    parts = {"%": ".*", "_": "."}
    return re.compile("".join(parts.get(one, re.escape(one)) for one in pattern), re.DOTALL)


@settings(max_examples=500)
@given(texts, texts, st.booleans(), st.integers(1, 3))
def test_whatever_matches_has_the_pieces_that_are_asked_for(
    text: str, cut: str, lowered: bool, n: int
) -> None:
    made = "".join(
        "%_"[ord(cut[at % len(cut)]) % 2] if cut and at % 3 == 2 else one
        for at, one in enumerate(text)
    )
    compared = text.lower() if lowered else text
    odd = any(one in text for one in "İK")
    pattern = made.lower() if lowered else made
    match = like(pattern, None, lowered=lowered)
    assert match is not None
    if as_regex(pattern).fullmatch(compared) and not (lowered and odd):
        assert set(match.tokens()) <= set(plain_tokens(text))
        assert set(match.ngrams(n)) <= set(plain_ngrams(text, n))
