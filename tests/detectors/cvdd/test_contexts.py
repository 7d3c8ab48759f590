import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from observers import Watching
from scipy.sparse import csr_array

from adbench_text.detectors.cvdd.contexts import (
    Bags,
    ContextNetwork,
    Phase,
    Training,
    losses_of,
    phases,
    train,
)
from adbench_text.errors import DetectorError

CPU = torch.device("cpu")
WORDS = np.array(["ship", "sail", "tide", "law", "judge"], dtype=object)
TABLE = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
COUNTS = np.array([[1, 0, 2, 0, 0], [0, 0, 0, 3, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [0, 4, 0, 0, 1]])


def bags_of(counts=COUNTS):
    return Bags(csr_array(counts), WORDS, TABLE, CPU)


def network_of(heads=3, seed=0):
    random = torch.Generator().manual_seed(seed)
    return ContextNetwork(F.normalize(torch.randn(heads, 4, generator=random)), random)


def test_a_batch_holds_the_vectors_and_log_counts_of_the_words_of_each_text():
    vectors, log_counts = bags_of().batch(np.array([4, 1]))
    assert vectors.shape == (2, 2, 4)
    np.testing.assert_array_equal(vectors[0], TABLE[[1, 4]])
    np.testing.assert_array_equal(vectors[1, 0], TABLE[3])
    np.testing.assert_allclose(log_counts, [[math.log(4), 0], [math.log(3), -math.inf]], rtol=1e-6)


def test_means_are_those_of_all_words_scaled_to_length_one():
    mean = (TABLE[0] + 2 * TABLE[2]) / 3
    np.testing.assert_allclose(bags_of().means(np.array([0]))[0], mean / np.linalg.norm(mean), rtol=1e-6)
    np.testing.assert_array_equal(bags_of().means(np.array([3]))[0], np.zeros(4))


def test_a_repeated_word_gets_the_attention_of_as_many_single_ones():
    network = network_of()
    of_bag = network(*bags_of().batch(np.array([0])))
    vectors = torch.from_numpy(TABLE[[0, 2, 2]])[None]
    one_by_one = network(vectors, torch.zeros(1, 3))
    torch.testing.assert_close(of_bag.attention[0, :, 1], one_by_one.attention[0, :, 1:].sum(-1))
    torch.testing.assert_close(of_bag.distances, one_by_one.distances)


def test_distances_are_the_cosine_distances_of_the_equations():
    network = network_of()
    vectors = torch.from_numpy(TABLE[[0, 1, 3]])
    distances = network(vectors[None], torch.zeros(1, 3)).distances[0]
    for k in range(3):
        weights = torch.softmax(torch.tanh(vectors @ network.inner.T) @ network.outer[k], dim=0)
        attended = weights @ vectors
        cosine = attended @ network.contexts[k] / attended.norm() / network.contexts[k].norm()
        torch.testing.assert_close(distances[k], (1 - cosine) / 2)


def test_distances_lie_between_zero_and_one():
    network = network_of(heads=2)
    with torch.no_grad():
        network.contexts.copy_(torch.from_numpy(np.stack([7 * TABLE[3], -0.1 * TABLE[3]])))
    distances = network(*bags_of().batch(np.array([1, 0, 2]))).distances
    torch.testing.assert_close(distances[0], torch.tensor([0.0, 1.0]), atol=1e-6, rtol=0)
    assert (distances >= 0).all()
    assert (distances <= 1).all()


def test_distances_depend_on_neither_pads_nor_order():
    network, bags = network_of(), bags_of()
    together = network(*bags.batch(np.array([0, 1, 2, 4]))).distances
    for place, row in enumerate([0, 1, 2, 4]):
        alone = network(*bags.batch(np.array([row]))).distances[0]
        torch.testing.assert_close(together[place], alone)
    backwards = network(*bags.batch(np.array([4, 2, 1, 0]))).distances
    torch.testing.assert_close(backwards.flip(0), together)


def test_orthonormal_contexts_have_no_penalty():
    distances = torch.rand(4, 3)
    assert losses_of(distances, torch.eye(3, 5), 0.0, 1.0).orthogonality == 0
    doubled = losses_of(distances, 2 * torch.eye(3, 5), 0.0, 1.0).orthogonality
    torch.testing.assert_close(doubled, torch.tensor(3.0))  # three nines among nine entries
    alike = losses_of(distances, torch.eye(1, 5).expand(2, 5), 0.0, 1.0).orthogonality
    torch.testing.assert_close(alike, torch.tensor(0.5))


def test_the_losses_are_those_computed_by_hand():
    distances = torch.tensor([[0.1, 0.3], [0.5, 0.5]])
    contexts = 2 * torch.eye(2, 5)
    plain = losses_of(distances, contexts, 0.0, 10.0)
    torch.testing.assert_close(plain.distance, torch.tensor(0.35))
    torch.testing.assert_close(plain.total, torch.tensor(0.35 + 10 * 4.5))
    weight = 1 / (1 + math.exp(-2.0))  # of the nearer one, alpha = 10
    expected = (weight * 0.1 + (1 - weight) * 0.3 + 0.5) / 2
    torch.testing.assert_close(losses_of(distances, contexts, 10.0, 0.0).total, torch.tensor(expected))


def test_alpha_changes_at_each_milestone():
    epochs = phases(100, 0.01)
    assert len(epochs) == 100
    for fifth, value in enumerate([0, 1e-4, 1e-3, 1e-2, 1e-1]):
        assert {phase.alpha for phase in epochs[20 * fifth : 20 * (fifth + 1)]} == {value}


def test_the_learning_rate_falls_at_epoch_forty_of_a_hundred():
    rates = [phase.learning_rate for phase in phases(100, 0.01)]
    assert rates == [0.01] * 40 + [0.001] * 60


@pytest.mark.parametrize("epochs", [1, 2, 3, 7])
def test_a_short_training_has_phases_too(epochs):
    found = phases(epochs, 0.01)
    assert len(found) == epochs
    assert found[0] == Phase(0.0, 0.01)


def training(epochs=20, rate=0.01, tolerance=0.0, batch_size=2):
    return Training(phases(epochs, rate), batch_size, 1.0, tolerance, 0)


ROWS = np.array([0, 1, 2, 4])


def test_training_brings_the_texts_nearer_to_the_contexts():
    network, watcher = network_of(), Watching()
    before = network(*bags_of().batch(ROWS)).distances.mean()
    train(network, bags_of(), ROWS, training(epochs=100), watcher)
    assert network(*bags_of().batch(ROWS)).distances.mean() < 0.7 * before
    totals = [losses["loss_total"] for *_, losses in watcher.told]
    assert len(totals) == 100
    assert totals[-1] < totals[0]


def test_an_observer_hears_of_steps_and_losses():
    watcher = Watching()
    train(network_of(), bags_of(), ROWS, training(epochs=5), watcher)
    assert [(step, steps) for step, steps, _ in watcher.told] == [(2 * n, 10) for n in range(1, 6)]
    assert watcher.told[0][2].keys() == {"loss_total", "loss_distance", "loss_orthogonality"}


def test_a_stage_whose_loss_has_settled_ends_early():
    watcher = Watching()
    # at a rate of 0 each loss is that of the epoch before: five stages and a change of rate between
    train(network_of(), bags_of(), ROWS, training(epochs=100, rate=0.0, tolerance=1e-3), watcher)
    assert len(watcher.told) == 5 * 10
    assert [steps for _, steps, _ in watcher.told][-1] == 2 * (50 + 10)  # the last ten were saved
    whole = Watching()
    train(network_of(), bags_of(), ROWS, training(epochs=100, rate=0.0), whole)
    assert len(whole.told) == 100


def test_a_loss_that_is_no_number_is_an_error():
    network = network_of()
    with torch.no_grad():
        network.contexts.fill_(math.nan)
    with pytest.raises(DetectorError, match=r"nan at step 2; .*learning_rate"):
        train(network, bags_of(), ROWS, training())


def test_the_networks_start_depends_on_the_generator_alone():
    torch.manual_seed(1)
    first = network_of(seed=5)
    torch.manual_seed(2)
    second = network_of(seed=5)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=0, rtol=0)
    assert not torch.equal(first.inner, network_of(seed=6).inner)
    assert first.inner.abs().max() <= 1 / 2  # 1 / sqrt(d)
    assert first.outer.abs().max() <= 1 / math.sqrt(6)
