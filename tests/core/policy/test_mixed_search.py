"""Which nodes stay float: planted costs and noises, with a known best answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from action_bench import model_of, spec_of

from metainfer_core.actions.action import Action, Reason
from metainfer_core.cost.estimate import Estimate
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.choose import predict
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.search.mixed_search import MOST_GIVEN_BACK, Mix, mixed, most_tries, savings_by_node

EMPTY = model_of("m (float[1] x) => (float[1] y) { [r] y = Relu (x) }")


def effect(noise: float) -> Effect:
    decibels = float(-10 * np.log10(noise)) if noise else None
    return Effect(outputs=(OutputEffect(output="y", sqnr_db=decibels),), samples=1, data="planted")


@dataclass
class World:
    """Layers whose noises add up and whose times are saved where they are INT8."""

    noise: dict[str, float]
    saved: dict[str, float]
    measured: int = 0
    given_up: int = 0
    built: int = 0

    def search(self, min_sqnr_db: float) -> set[str]:
        """The nodes that stay float."""
        actions = [Action(kind="quantize", nodes=(name,)) for name in self.noise]
        dropped: dict[int, set[str]] = {}

        def build(reasons: Mapping[str, Reason]) -> Draft:
            draft = Draft(EMPTY.clone(), spec_of(), None)
            dropped[id(draft)] = set(reasons)
            self.built += 1
            keep.append(draft)
            return draft

        def measure(draft: Draft) -> Effect:
            self.measured += 1
            return effect(sum(noise for name, noise in self.noise.items() if name not in dropped[id(draft)]))

        def try_out(draft: Draft) -> Effect | str:
            found = measure(draft)
            self.given_up += not mix.fits(found)
            return found if mix.fits(found) else "It was given up."

        def price(draft: Draft) -> float:
            return sum(self.saved[name] for name in dropped[id(draft)])

        keep: list[Draft] = []
        mix = Mix(build, measure, try_out, price, Objective(min_sqnr_db=min_sqnr_db))
        effects = {action.id: effect(self.noise[action.nodes[0]]) for action in actions}
        together = effect(sum(self.noise.values()))
        draft, _ = mixed(mix, actions, effects, self.saved, together)
        return dropped[id(draft)]


def test_the_noisiest_layer_alone_stays_float() -> None:
    world = World(dict.fromkeys("abcdefgh", 1e-4) | {"e": 0.1}, dict.fromkeys("abcdefgh", 1.0))
    assert world.search(20.0) == {"e"}
    assert world.measured < 20


def test_a_layer_that_saves_most_is_worth_its_noise() -> None:
    """Three cheap layers make as much noise as the one that saves nearly all: they go, though each is quieter."""
    noise = {"heavy": 0.008, **{f"light{index}": 0.004 for index in range(3)}}
    saved = {"heavy": 100.0, **{f"light{index}": 1.0 for index in range(3)}}
    world = World(noise, saved)
    assert world.search(20.0) == {"light0", "light1", "light2"}
    assert world.measured == 8, "both orders begin with all of them, which is measured once: 3, 2 more, 3 given back"


def test_a_heavy_layer_that_breaks_the_budget_alone_does_not_take_all_others_along() -> None:
    noise = {"heavy": 0.02, **{f"light{index}": 1e-5 for index in range(7)}}
    saved = {"heavy": 100.0, **{f"light{index}": 1.0 for index in range(7)}}
    assert World(noise, saved).search(20.0) == {"heavy"}


def test_what_was_dropped_for_nothing_comes_back() -> None:
    """By noise for what it saves the small one goes first, and is not needed any more once the next one is gone."""
    noise = {"small": 0.0005, "middle": 0.008, "large": 0.009}
    saved = {"small": 0.1, "middle": 5.0, "large": 6.0}
    assert World(noise, saved).search(20.0) == {"middle"}


def test_what_is_no_cheaper_in_int8_is_not_measured_so() -> None:
    world = World({"a": 0.008, "b": 0.007, "c": 0.004, "d": 0.003}, {"a": 0.0, "b": 0.0, "c": 1.0, "d": 1.0})
    assert world.search(20.0) == {"a", "b"}
    assert (world.measured, world.built) == (3, 5), "all, two, one; then each of the two is built and priced"


def test_if_nothing_fits_all_stays_float() -> None:
    world = World({"a": 0.5, "b": 0.5}, {"a": 1.0, "b": 1.0})
    assert world.search(3.5) == {"a", "b"}
    assert world.given_up == 3, "halving leaves one of them, then each comes back alone"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 33])
@pytest.mark.parametrize("min_sqnr_db", [3.5, 12.0, 20.0, 30.0])
def test_no_more_is_measured_than_is_said(count: int, min_sqnr_db: float) -> None:
    names = [f"layer{index}" for index in range(count)]
    noise = {name: 0.001 * (1 + 7 * index % 11) for index, name in enumerate(names)}
    world = World(noise, {name: 1.0 + 5 * index % 13 for index, name in enumerate(names)})
    world.search(min_sqnr_db)
    assert 1 <= world.measured <= most_tries(count)
    assert most_tries(count) == 2 * (1 + int(np.ceil(np.log2(count)))) + min(count, MOST_GIVEN_BACK)


def test_savings_are_times_where_all_are_known() -> None:
    model = model_of("m (float[1,8] x, float[8,8] w) => (float[1,8] y) { [mm] p = MatMul (x, w) [r] y = Relu (p) }")
    found = predict(model, spec_of())
    assert isinstance(found, Estimate)
    none: Sequence[float] = list(savings_by_node(found, found).values())
    assert none == pytest.approx([0.0] * len(none))
    assert set(savings_by_node(found, found)) == {"mm", "r"}
