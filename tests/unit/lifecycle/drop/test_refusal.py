"""Every reason for which an item stays out of a plan has its sentence."""

from lifecycle.drop.domain.refusal import EXPLANATIONS, LeftOut


def test_every_reason_is_explained() -> None:
    assert set(EXPLANATIONS) == set(LeftOut)
