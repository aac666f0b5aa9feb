"""Values come back with the right key, from the right column, untouched; and with nothing else."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.protecting.engine.ciphers import Protector, deterministic_text, opened
from portal.lake.errors import RuleViolation


def key(seed: str) -> str:
    return base64.b64encode(hashlib.sha256(seed.encode()).digest()).decode()


ENV = {"LAKEWARDEN_CDC_KEY_PII": key("one")}
ROTATED = {"LAKEWARDEN_CDC_KEY_PII": f"{key('two')}, {key('one')}"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def protector(text: str, column: str = "phone", env: dict[str, str] = ENV) -> Protector:
    return Protector.of(Protection.parse(text), "ods.users", column, env)


@given(TEXTS, st.sampled_from(["encrypted:PII", "deterministic:PII"]))
def test_what_is_encrypted_comes_back(text: str, how: str) -> None:
    stored = protector(how).stored(text, '{"id":"1"}', 7)
    assert opened(stored, "ods.users", "phone", ENV) == text
    assert protector(how).stored(text, '{"id":"1"}', 7) == stored


@given(TEXTS, TEXTS)
def test_equal_values_look_equal_only_where_that_is_wanted(one: str, other: str) -> None:
    joined, hashed, hidden = map(protector, ("deterministic:PII", "hash:PII", "encrypted:PII"))
    elsewhere = Protector.of(joined.protection, "ods.orders", "customer_phone", ENV)
    assert (joined.stored(one, "a", 1) == elsewhere.stored(other, "b", 2)) == (one == other)
    assert (hashed.stored(one, "a", 1) == hashed.stored(other, "b", 2)) == (one == other)
    assert hidden.stored(one, "a", 1) != hidden.stored(one, "a", 2) != hidden.stored(one, "b", 2)


@given(TEXTS, st.data(), st.sampled_from(["encrypted:PII", "deterministic:PII"]))
def test_a_text_that_was_changed_is_refused(text: str, data: st.DataObject, how: str) -> None:
    stored = protector(how).stored(text, "row", 1)
    assert stored is not None
    head, _, encoded = stored.rpartition(":")
    sealed = bytearray(base64.urlsafe_b64decode(encoded))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))
    changed = f"{head}:{base64.urlsafe_b64encode(bytes(sealed)).decode()}"
    with pytest.raises(RuleViolation) as refused:
        opened(changed, "ods.users", "phone", ENV)
    assert refused.value.code == "cdc.sealed"


def test_an_encrypted_value_belongs_to_its_table_and_column() -> None:
    stored = protector("encrypted:PII").stored("0911", "row", 1)
    for table, column in (("ods.users", "mobile"), ("ods.orders", "phone")):
        with pytest.raises(RuleViolation, match=f"{table}.{column} is no encrypted text"):
            opened(stored, table, column, ENV)
    for text in ("", "0911", "lw1:PII.00000000:", "lw9:PII.00000000:AAAA"):
        with pytest.raises(RuleViolation, match="no encrypted text"):
            opened(text, "ods.users", "phone", ENV)
    assert opened(None, "ods.users", "phone", ENV) is None


def test_a_new_key_protects_new_values_and_the_old_one_reads_old_ones() -> None:
    old = protector("encrypted:PII").stored("0911", "row", 1)
    new = protector("encrypted:PII", env=ROTATED).stored("0911", "row", 1)
    assert old is not None
    assert new is not None
    assert old.split(":")[1] != new.split(":")[1]
    assert [opened(one, "ods.users", "phone", ROTATED) for one in (old, new)] == ["0911", "0911"]
    with pytest.raises(RuleViolation) as refused:
        opened(new, "ods.users", "phone", ENV)
    assert refused.value.code == "cdc.key_missing"
    assert new.split(":")[1] in refused.value.message


def test_a_key_by_which_values_look_equal_is_one() -> None:
    for how in ("deterministic:PII", "hash:PII"):
        with pytest.raises(RuleViolation) as refused:
            protector(how, env=ROTATED)
        assert refused.value.code == "cdc.key"


@pytest.mark.parametrize("text", ["short", key("one")[:-4], "ü" * 32, f"{key('one')},x"])
def test_what_is_no_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        protector("encrypted:PII", env={"LAKEWARDEN_CDC_KEY_PII": text})
    assert refused.value.code == "cdc.key"
    assert text not in refused.value.message


def test_a_missing_key_is_named() -> None:
    with pytest.raises(RuleViolation, match="LAKEWARDEN_CDC_KEY_PII is not set") as refused:
        protector("encrypted:PII", env={"LAKEWARDEN_CDC_KEY_PII": " "})
    assert refused.value.code == "cdc.key_missing"


def test_keys_are_not_among_what_is_printed() -> None:
    one = protector("encrypted:PII")
    assert one.key is not None
    assert one.key.id.startswith("PII.")
    assert "material" not in repr(one) + repr(one.key)


def test_masks_need_no_key_and_null_stays_null() -> None:
    assert protector("show_last_4", env={}).stored("0911222333") == "xxxx2333"
    for how in ("encrypted:PII", "deterministic:PII", "hash:PII", "redact", "nullify", "year"):
        assert protector(how).stored(None) is None


def test_what_any_row_stores_is_told_where_rows_do_not_differ() -> None:
    joined = Protection.parse("deterministic:PII")
    assert deterministic_text(joined, "0911", ENV) == protector(str(joined)).stored("0911", "r", 9)
    assert deterministic_text(Protection(), "0911", {}) == "0911"
    with pytest.raises(RuleViolation, match="differ with each row"):
        deterministic_text(Protection.parse("encrypted:PII"), "0911", ENV)
