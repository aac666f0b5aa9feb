"""Tests the fleet's bench for fairness: no byte lost or made up, both sides do their work."""

import pytest

from bench.fleet_deciders import Amoro, Ours
from bench.fleet_history import generate
from bench.fleet_world import Decider, World, work_of

N_TABLES = 15
HISTORY = generate(n_tables=N_TABLES, seconds=3 * 3600.0, seed=7)


def test_a_history_is_the_same_for_the_same_seed_and_in_order() -> None:
    again = generate(n_tables=N_TABLES, seconds=3 * 3600.0, seed=7)
    assert (again.at == HISTORY.at).all()
    assert (again.sizes == HISTORY.sizes).all()
    assert (HISTORY.at[1:] >= HISTORY.at[:-1]).all()
    assert HISTORY.first[-1] == len(HISTORY.sizes)


@pytest.mark.parametrize("decider", [Ours(N_TABLES), Amoro(N_TABLES)], ids=["ours", "amoro"])
def test_files_become_fewer_and_no_byte_is_lost(decider: Decider) -> None:
    world = World(HISTORY, decider)
    figures = world.run()
    sizes = [size for parts in world.tables for part in parts.values() for size in part.sizes]
    assert figures.n_done > 0
    assert len(sizes) < len(HISTORY.sizes) / 2
    assert sum(sizes) == pytest.approx(HISTORY.sizes.sum(), rel=1e-6)
    assert world.free <= 48
    assert min(figures.lags) >= 0


def test_work_takes_just_what_was_picked() -> None:
    work = work_of(1, 2, [10, 20, 30], [0, 2])
    assert (work.n_bytes, work.picked, work.length) == (40, (0, 2), 3)
