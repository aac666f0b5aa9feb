"""Names and typed texts fall into the same words, whatever alphabet they are of."""

import pytest

from portal.search.domain.splits import parts_of, split_word
from portal.search.domain.typos import distances, stored_keys, typed_keys, typos_allowed
from portal.search.domain.words import QUERY_WORDS, WORD_CHARS, name_words, read_typed, typed_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clicks_live", ("clicks", "live")),
        ("ClicksLiveV2", ("clicks", "live", "v", "2")),
        ("rawHTTPLog", ("raw", "httplog")),
        ("sales.clicks-2024", ("sales", "clicks", "2024")),
        ("\uff23\uff4c\uff49cks\uff3f\u2163", ("clicks", "iv")),
        ("Straße_ÜBER", ("strasse", "über")),
        ("u\u0308ber", ("über",)),
        ("销售数据", ("销售", "售数", "数据", "据")),
        ("dw_订单_day", ("dw", "订单", "单", "day")),
        ("заказы_дня", ("заказы", "дня")),
        ("طلبات_اليوم", ("طلبات", "اليوم")),
        ("क्लिक_डेटा", ("क्लिक", "डेटा")),
        ("📊", ("📊",)),
        ("a_a_a", ("a",)),
        ("%_$", ()),
        ("", ()),
    ],
)
def test_a_name_has_words(name: str, words: tuple[str, ...]) -> None:
    assert name_words(name) == words


def test_a_long_word_is_cut_alike_in_names_and_in_typed_texts() -> None:
    long = "x" * 256
    assert name_words(long) == typed_words(long) == ("x" * WORD_CHARS,)


def test_unspaced_scripts_are_asked_by_pairs_or_by_one_character() -> None:
    assert typed_words("售数据") == ("售数", "数据")
    assert typed_words("数") == ("数",)


def test_a_dot_parts_the_database_from_the_table() -> None:
    assert read_typed("Sales.clik").db_words == ("sales",)
    assert read_typed("Sales.clik").words == ("clik",)
    assert read_typed("`sales.`").words == ()
    assert read_typed(" sales clik ").words == ("sales", "clik")
    assert read_typed("   ").is_empty
    assert read_typed("%_").is_empty


def test_of_a_very_long_text_the_first_words_are_compared() -> None:
    assert len(typed_words("ab cd " * 2_000)) == 2
    assert (
        len(typed_words(" ".join(f"{chr(97 + n % 26)}x{n}" for n in range(5_000)))) == QUERY_WORDS
    )


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("clik", "clicks"),  # one is missing
        ("cliicks", "clicks"),  # one too much
        ("clucks", "clicks"),  # a wrong one
        ("cilcks", "clicks"),  # two swapped
        ("lcicks", "clicks"),
        ("transactoin", "transactions"),
        ("trnsactins", "transactions"),
        ("custmoers", "customers"),
        ("invnetroy", "inventory"),
        ("xlicks", "clicks"),
    ],
)
def test_a_typo_is_found_by_a_common_key(typed: str, stored: str) -> None:
    stored_by = stored_keys(stored) | {stored}
    assert any(one.startswith(key) for key in typed_keys(typed) for one in stored_by)
    assert distances(typed, stored)[0] <= typos_allowed(typed)


@pytest.mark.parametrize(
    ("typed", "stored"), [("clik", "orders"), ("live", "love_not"), ("2024", "2025"), ("ab", "ac")]
)
def test_words_that_mean_others_are_not_near(typed: str, stored: str) -> None:
    is_near = distances(typed, stored)[0] <= typos_allowed(typed)
    assert is_near == (typed == "live")


def test_distances_are_to_the_nearest_beginning_and_to_the_whole() -> None:
    assert distances("clik", "clicks") == (1, 2)
    assert distances("clicks", "clicks") == (0, 0)
    assert distances("", "abc") == (0, 3)


def test_words_typed_together_are_parted() -> None:
    known = {"clicks", "live", "raw"}

    def begins(rest: str) -> bool:
        return any(word.startswith(rest) for word in known)

    assert split_word("clickslive", known, begins=begins) == ("clicks", "live")
    assert split_word("rawclicksli", known, begins=begins) == ("raw", "clicks", "li")
    assert split_word("clicksxyz", known, begins=begins) is None
    assert split_word("clicks", {"clicks"}, begins=begins) is None
    assert "live" in parts_of("clickslive")
