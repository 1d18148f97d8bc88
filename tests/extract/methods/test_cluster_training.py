"""k-means, k by validity, and samples that join, wait or make everything be clustered anew."""

from __future__ import annotations

import json

import numpy as np
import pytest

from qiaocrawl.errors import ConfigError
from qiaocrawl.extract.published.cluster import (
    Clusters,
    ClusterState,
    IncrementalClusters,
    Training,
    cluster_all,
    k_means,
)

RNG = np.random.default_rng(7)
# Characters, characters a paragraph, link characters, images, full stops.
BODIES = np.exp(RNG.normal([7.0, 4.5, 1.0, 0.3, 3.0], 0.3, (60, 5)))
LINES = np.exp(RNG.normal([3.0, 3.0, 0.5, 0.0, 0.1], 0.3, (200, 5))) - 1


def test_k_means_finds_separate_groups_and_measures_them() -> None:
    points = np.array([[0.0, 0.0], [0.0, 2.0], [10.0, 0.0], [10.0, 4.0], [10.0, 2.0]])
    found = k_means(points, 2, np.random.default_rng(1))
    order = found.centres[:, 0].argsort()
    assert found.centres[order].tolist() == [[0.0, 1.0], [10.0, 2.0]]
    assert found.counts[order].tolist() == [2, 3]
    assert found.radii[order].tolist() == pytest.approx([1.0, 4 / 3])
    assert found.squares == pytest.approx(2.0 + 8.0)


def test_validity_is_global_times_local_stability() -> None:
    clusters = Clusters(
        centres=np.array([[0.0, 0.0], [3.0, 4.0]]), radii=np.array([1.0, 2.0]),
        counts=np.array([10, 6]), squares=0.0,
    )  # fmt: skip
    # Mean distance 5 over k = 2; densities 10 and 3.
    assert clusters.validity() == pytest.approx(2.5 * 6.5)


def test_the_k_with_the_highest_validity_is_taken() -> None:
    samples = np.concatenate([BODIES, LINES])
    training = Training(least_k=2, most_k=5)
    model = cluster_all(samples, training)
    assert len(model.centres) == 2
    assert sorted(model.counts) == [60, 200]


def test_the_cluster_with_most_full_stops_holds_the_bodies() -> None:
    model = cluster_all(np.concatenate([BODIES, LINES]), Training(least_k=2))
    (body,) = model.body
    assert model.counts[body] == 60
    assert model.typical()[body, 4] > 10


def test_the_same_samples_give_the_same_model() -> None:
    samples = np.concatenate([BODIES, LINES])
    one, other = (cluster_all(samples, Training()) for _ in range(2))
    assert one.to_json() == other.to_json()


def trained(*pages: np.ndarray, buffer: int = 200) -> IncrementalClusters:
    clusters = IncrementalClusters(Training(least_k=2, most_k=3, buffer=buffer))
    for page in pages:
        clusters.add(page)
    return clusters


def test_samples_that_fit_join_without_moving_a_centre() -> None:
    clusters = trained(BODIES, LINES)
    first = clusters.model()
    for _ in range(5):
        clusters.add(BODIES[:50])
    second = clusters.model()
    assert clusters.clusterings == 1
    assert second.centres.tolist() == first.centres.tolist()
    assert second.counts[second.body[0]] == 60 + 250
    assert second.samples == 60 + 200 + 250


def test_strangers_wait_and_a_full_buffer_of_them_clusters_everything_anew() -> None:
    clusters = trained(BODIES, LINES)
    strangers = np.exp(RNG.normal([11.0, 9.0, 8.0, 5.0, 0.5], 0.1, (120, 5)))
    clusters.add(strangers[:60])
    waiting = clusters.model()
    assert (clusters.clusterings, sum(waiting.counts), waiting.samples) == (1, 260, 320)
    clusters.add(strangers)
    clusters.add(strangers[:30])
    assert clusters.clusterings == 2
    assert sum(clusters.model().counts) == 260 + 60 + 120 + 30


def test_a_buffer_full_of_strangers_is_clustered_though_the_next_page_fits() -> None:
    clusters = trained(BODIES, LINES)
    strangers = np.exp(RNG.normal([11.0, 9.0, 8.0, 5.0, 0.5], 0.1, (199, 5)))
    clusters.add(strangers)
    assert clusters.clusterings == 1
    # Each page has something that fits; the buffer must not grow for ever because of it.
    clusters.add(np.concatenate([strangers[:5], BODIES[:5]]))
    assert clusters.clusterings == 2
    assert clusters.state().waiting == b""


def test_what_was_learnt_goes_on_in_another_process() -> None:
    pages = [BODIES, LINES, BODIES[:30], LINES[:100], BODIES[30:]]
    training = Training(least_k=2, most_k=3, buffer=200)
    state = ClusterState()
    for page in pages:
        clusters = IncrementalClusters.of_state(state, training)
        clusters.add(page)
        state = clusters.state()
    whole = trained(*pages).state()
    assert (state.pages, state.clusterings) == (whole.pages, whole.clusterings) == (5, 1)
    assert state.joined == whole.joined
    assert json.loads(state.model) == json.loads(whole.model)


def test_no_more_samples_are_kept_than_asked_for() -> None:
    training = Training(least_k=2, most_k=3, buffer=200, most_samples=300)
    clusters = IncrementalClusters(training)
    for _ in range(20):
        clusters.add(np.concatenate([BODIES, LINES]))
    kept = len(clusters.state().joined) // (8 * 5)
    assert 150 <= kept <= 300
    assert sum(clusters.model().counts) == 20 * 260


def test_damaged_states_are_refused() -> None:
    for state in (ClusterState(model="{}"), ClusterState(joined=b"12345678")):
        with pytest.raises(ValueError, match=r"field|reshape"):
            IncrementalClusters.of_state(state, Training())


@pytest.mark.parametrize("pages", [[], [BODIES[:0]], [BODIES[:1], BODIES[:1]]])
def test_nothing_to_tell_apart_is_said(pages: list[np.ndarray]) -> None:
    with pytest.raises(ConfigError, match="2 different nodes"):
        trained(*pages).model()


def test_two_samples_are_enough() -> None:
    model = trained(np.array([BODIES[0], LINES[0]])).model()
    assert sorted(model.counts) == [1, 1]


@pytest.mark.parametrize(
    "wrong", [{"least_k": 1}, {"least_k": 6, "most_k": 5}, {"most_k": 101}, {"buffer": 0},
              {"starts": 0}],
)  # fmt: skip
def test_impossible_trainings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="got"):
        Training(**wrong)
