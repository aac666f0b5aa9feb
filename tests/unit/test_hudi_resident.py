"""When does the program that stays look at a table because the portal wishes so?"""

from optimizer.jobs.hudi.resident import Watched


def test_a_wish_is_met_once_and_again_only_if_it_stays() -> None:
    table = Watched()
    assert not table.is_wanted("", now=100.0)
    assert table.is_wanted("12:00", now=100.0)
    table.due, table.looked_at = "12:00", 100.0
    assert not table.is_wanted("12:00", now=130.0)
    assert not table.is_wanted("", now=1000.0)
    assert table.is_wanted("12:05", now=101.0)
    assert table.is_wanted("12:00", now=160.0), "the portal's clock is ahead: it came too early"
