"""Teams share what weighs most, and even out any number of keys."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail._core.sweep.teams import Teams, unbalancedness


def test_unbalancedness_is_the_deviation_over_the_mean() -> None:
    assert unbalancedness(np.array([2.0, 2.0])) == 0
    assert unbalancedness(np.array([4.0, 0.0])) == 1
    assert unbalancedness(np.zeros(3)) == 0


@pytest.mark.parametrize("keys", [1, 2, 5, 10, 17, 100, 1000])
def test_sixteen_joiners_are_evened_out(keys: int) -> None:
    teams, loads = Teams(16, delta=0.002, decay=0.9), np.zeros(16)
    dice = np.random.default_rng(keys)
    for turn in range(20):
        owners = teams.deal(dice.integers(0, keys, 5000))
        teams.schedule()
        loads += np.bincount(owners, minlength=16) * (turn >= 10)
    assert unbalancedness(loads) < 0.05
    assert np.allclose(teams.parts.sum(axis=1), 1)


def test_rows_go_only_to_members_of_their_team() -> None:
    teams = Teams(4, delta=0.0)
    codes = np.array([0, 0, 0, 1, 5] * 100)
    for _ in range(5):
        owners = teams.deal(codes)
        assert (teams.parts[codes, owners] > 0).all()
        teams.schedule()
    assert teams.shared
    assert teams.handled.sum() == 5 * codes.size


def test_rows_without_a_key_belong_to_the_first_partition() -> None:
    assert Teams(3).deal(np.array([-1, 0, 1, 5])).tolist() == [0, 0, 1, 2]
