from fractions import Fraction
from math import comb, log

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from adbench_text.detectors.date import electra
from adbench_text.detectors.date.corruption import (
    LearnedGenerator,
    RandomGenerator,
    mask_patterns,
)
from adbench_text.detectors.date.electra import (
    Block,
    Corruption,
    Discriminator,
    Embeddings,
    Judgement,
    Objective,
    Shape,
    n_scored,
)
from adbench_text.reports.published import figures_of_the_paper, overlap_bound

SMALL = Shape(hidden=8, layers=2, heads=2, feed_forward=16)
N_PIECES, MASK_ID = 30, 4
LAST = 1 - 2**-24  # the greatest number that torch.rand gives


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def shaken(network, seed=0):
    """With weights so large that every input shows in the output."""
    random = seeded(seed)
    with torch.no_grad():
        for p in network.parameters():
            p.normal_(std=0.5, generator=random)
    return network


def discriminator(n_positions=20):
    return shaken(Discriminator(Embeddings(N_PIECES, n_positions, size=6), SMALL, n_patterns=3))


def batch(lengths, width=None, seed=0):
    """Random ids in windows of these lengths, padded with 0."""
    lengths = torch.tensor(lengths)
    ids = torch.randint(5, N_PIECES, (len(lengths), width or int(lengths.max())), generator=seeded(seed))
    ids[:, 0] = 2
    return ids * electra.is_real(ids, lengths), lengths


def corruption(ids, lengths, seed=1):
    random = seeded(seed)
    masked = (torch.rand(ids.shape, generator=random) < 0.5) & electra.is_real(ids, lengths)
    masked[:, 0] = False
    pattern = torch.randint(3, (len(ids),), generator=random)
    return Corruption(masked, pattern, torch.rand(ids.shape, generator=random))


# mask patterns


@pytest.mark.parametrize(
    ("n_patterns", "length", "share"), [(50, 128, 0.5), (25, 498, 0.25), (5, 128, 0.15), (3, 100, 0.29)]
)
def test_patterns_differ_and_mask_the_same_share_between_cls_and_the_last_sep(n_patterns, length, share):
    patterns = mask_patterns(n_patterns, length, share, seeded())
    assert patterns.shape == (n_patterns, length + 2)
    assert patterns.dtype == torch.bool
    assert patterns.sum(1).tolist() == [int(share * length)] * n_patterns
    assert not patterns[:, [0, -1]].any()
    assert len(patterns.unique(dim=0)) == n_patterns


def test_patterns_are_a_function_of_the_generators_seed():
    first, again, other = (mask_patterns(10, 20, 0.5, seeded(seed)) for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert first[:, 1:-1].any(0).all()  # every place is masked by some pattern


def test_all_patterns_there_are_can_be_had():
    assert len(mask_patterns(6, 4, 0.5, seeded()).unique(dim=0)) == 6


# Appendix A


def expected_overlaps(n_patterns, length, n_masked, n_shared):
    """The expected number of (pair of patterns, p positions that both mask)."""
    of_pair = sum(
        Fraction(comb(n_masked, x) * comb(length - n_masked, n_masked - x), comb(length, n_masked))
        * comb(x, n_shared)
        for x in range(n_masked + 1)
    )
    return comb(n_patterns, 2) * of_pair


@pytest.mark.parametrize("of", [(2, 5, 2, 1), (10, 128, 19, 13), (50, 128, 64, 60), (25, 498, 124, 100)])
def test_the_overlap_bound_is_the_expected_number_of_overlaps(of):
    assert overlap_bound(*of) == pytest.approx(float(expected_overlaps(*of)), rel=1e-12)


def test_the_published_overlap_bounds_are_ours_at_15_percent_in_their_order_of_magnitude():
    published = figures_of_the_paper()["mask_overlap_upper_bounds"]
    n_masked = int(0.15 * published["S"])
    for name, of in {
        "N100_p12": (100, 12),
        "N100_p15": (100, 15),
        "N10_p15": (10, 15),
        "N10_p13": (10, 13),
    }.items():
        bound = overlap_bound(of[0], published["S"], n_masked, of[1])
        assert published[name] <= bound < 10 * published[name], name


# generators


def test_the_random_generator_replaces_what_is_masked_by_ids_from_first_to_last():
    ids, lengths = batch([40] * 50)
    masked, _, noise = corruption(ids, lengths)
    replaced, mlm = RandomGenerator(5, N_PIECES)(ids, lengths, masked, noise)
    assert mlm is None
    assert torch.equal(replaced[~masked], ids[~masked])
    assert replaced[masked].unique().tolist() == list(range(5, N_PIECES))


@pytest.mark.parametrize("n_pieces", [6, 100, 30522])
def test_the_random_generator_reaches_both_ends_and_not_beyond(n_pieces):
    noise = torch.tensor([[0.0, LAST]])
    masked = torch.ones(1, 2, dtype=torch.bool)
    replaced, _ = RandomGenerator(5, n_pieces)(torch.zeros(1, 2, dtype=torch.int64), None, masked, noise)
    assert replaced.tolist() == [[5, n_pieces - 1]]


def learned_generator(n_pieces=N_PIECES):
    return shaken(LearnedGenerator(Embeddings(n_pieces, 20, size=6), SMALL, MASK_ID))


def context_free_generator(probabilities):
    """One that gives the same probabilities whatever it reads."""
    generator = learned_generator(len(probabilities))
    with torch.no_grad():
        for p in generator.head.parameters():
            p.zero_()
        generator.bias.copy_(torch.tensor(probabilities).log())
    return generator


@pytest.mark.parametrize(
    ("probabilities", "noise", "expected"),
    [
        (
            [0.1, 0.2, 0.3, 0.1, 0.3],
            [0.0, 0.09, 0.11, 0.29, 0.31, 0.69, 0.71, LAST],
            [0, 0, 1, 1, 2, 3, 4, 4],
        ),
        ([0.0, 0.5, 0.0, 0.5, 0.0], [0.0, 0.5, LAST], [1, 3, 3]),  # without a probability, none is drawn
    ],
)
def test_the_learned_generator_draws_by_the_inverse_of_its_cumulative_softmax(probabilities, noise, expected):
    generator, n = context_free_generator(probabilities), len(noise)
    masked = torch.ones(1, n, dtype=torch.bool)
    replaced, _ = generator(torch.full((1, n), 3), torch.tensor([n]), masked, torch.tensor([noise]))
    assert replaced.tolist() == [expected]


def test_the_mlm_loss_is_the_cross_entropy_of_the_tied_head():
    generator, (ids, lengths) = learned_generator(), batch([9, 5])
    masked, _, noise = corruption(ids, lengths)
    x = generator.head(generator.encoder(torch.where(masked, MASK_ID, ids), lengths))
    logits = x @ generator.encoder.embeddings.token.weight.T + generator.bias
    expected = -logits.log_softmax(-1).gather(-1, ids[..., None])[masked].sum()
    replaced, mlm = generator(ids, lengths, masked, noise)
    torch.testing.assert_close(mlm, expected)
    assert torch.equal(replaced[~masked], ids[~masked])


def test_the_learned_generator_does_not_see_what_is_masked():
    generator, (ids, lengths) = learned_generator(), batch([12, 12])
    masked, _, noise = corruption(ids, lengths)
    other = torch.where(masked, 5 + (ids - 4) % (N_PIECES - 5), ids)
    first, second = (generator(given, lengths, masked, noise) for given in (ids, other))
    assert torch.equal(first[0], second[0])
    assert first[1] != second[1]


def test_a_batch_without_a_masked_token_has_nothing_for_mlm():
    generator, (ids, lengths) = learned_generator(), batch([4, 3])
    replaced, mlm = generator(ids, lengths, torch.zeros_like(ids, dtype=torch.bool), torch.rand(2, 4))
    assert torch.equal(replaced, ids)
    assert mlm == 0


def test_a_learned_generator_shares_the_embeddings_and_leaves_them_as_they_are():
    embeddings = Embeddings(N_PIECES, 20, size=6)
    before = embeddings.token.weight.clone()
    generator = LearnedGenerator(embeddings, SMALL, MASK_ID)
    assert generator.encoder.embeddings is embeddings
    assert torch.equal(embeddings.token.weight, before)


# objective


class Replaces(nn.Module):
    """Replaces by given ids, with a given sum of MLM losses."""

    def __init__(self, replaced, mlm=None):
        super().__init__()
        self.replaced, self.mlm = replaced, mlm

    def forward(self, ids, lengths, masked, noise):
        return torch.where(masked, self.replaced, ids), self.mlm


class Says(nn.Module):
    """Judges by given probabilities, whatever it sees."""

    def __init__(self, rtd, rmd):
        super().__init__()
        self.rtd, self.rmd = torch.tensor(rtd), torch.tensor(rmd)
        self.seen = None

    def forward(self, ids, lengths):
        self.seen = ids
        return Judgement(self.rtd.logit(), self.rmd.log())


IDS, LENGTHS = torch.tensor([[2, 10, 11, 3], [2, 12, 3, 0]]), torch.tensor([4, 3])
# the second of the three replacements is the original
REPLACED = torch.tensor([[9, 20, 11, 9], [9, 21, 9, 9]])
MASKED = torch.tensor([[False, True, True, False], [False, True, False, False]])
CORRUPTION = Corruption(MASKED, torch.tensor([1, 0]), torch.zeros(2, 4))
RTD = -(log(0.75) + log(1 - 0.25) + log(1 - 0.5) + log(0.6) + log(1 - 0.8)) / 5
RMD = -(log(0.8) + log(0.5)) / 2


@pytest.mark.parametrize(("mlm", "of_token"), [(None, 0.0), (torch.tensor(6.0), 2.0)])
def test_the_losses_by_hand(mlm, of_token):
    judge = Says([[0.9, 0.75, 0.25, 0.5], [0.9, 0.6, 0.8, 0.9]], [[0.2, 0.8], [0.5, 0.5]])
    losses = Objective(Replaces(REPLACED, mlm), judge, 7.0, 11.0)(IDS, LENGTHS, CORRUPTION)
    assert judge.seen.tolist() == [[2, 20, 11, 3], [2, 21, 3, 0]]
    total = 7 * RTD + 11 * RMD + of_token
    assert [loss.item() for loss in losses] == pytest.approx([total, RTD, RMD, of_token], rel=1e-6)


def objective(learned=True, **weights):
    network = discriminator()
    generator = RandomGenerator(5, N_PIECES)
    if learned:
        generator = shaken(LearnedGenerator(network.encoder.embeddings, SMALL, MASK_ID))
    return Objective(generator, network, **weights)


def test_what_is_scored_are_tokens_after_cls_windows_and_masked_tokens():
    assert n_scored(IDS, LENGTHS, MASKED).tolist() == [5, 2, 3]
    assert n_scored(IDS, LENGTHS, torch.zeros_like(MASKED)).tolist() == [5, 2, 1]


def moved(module):
    return any(p.grad is not None and bool(p.grad.any()) for p in module.parameters())


@pytest.mark.parametrize(
    ("weights", "heads"),
    [({}, (True, True)), ({"rtd_weight": 0.0}, (False, True)), ({"rmd_weight": 0.0}, (True, False))],
)
def test_a_head_whose_loss_weighs_nothing_has_no_gradient(weights, heads):
    ids, lengths = batch([9, 4])
    networks = objective(learned=False, **weights)
    losses = networks(ids, lengths, corruption(ids, lengths))
    losses.total.backward()
    judge = networks.discriminator
    assert (moved(judge.rtd_head), moved(judge.rmd_head)) == heads
    assert moved(judge.encoder)
    assert bool(losses.rmd) == heads[1]  # with one pattern there is no RMD


def test_a_learned_generator_has_the_gradient_of_mlm_alone():
    ids, lengths = batch([9, 4])
    gradients = []
    for weights in ({}, {"rtd_weight": 0.0, "rmd_weight": 0.0}):
        networks = objective(**weights)
        networks(ids, lengths, corruption(ids, lengths)).total.backward()
        gradients.append([p.grad for p in networks.generator.head.parameters()])
    assert all(g.any() for g in gradients[0])
    torch.testing.assert_close(*gradients)


# discriminator


def test_pads_do_not_change_the_judgement_of_a_window():
    network, (ids, lengths) = discriminator(), batch([9, 5])
    expected = network(ids, lengths)
    wider = F.pad(ids, (0, 7))
    wider[~electra.is_real(wider, lengths)] = 6  # nor does what stands there
    found = network(wider, lengths)
    real = electra.is_real(ids, lengths)
    torch.testing.assert_close(found.rtd[:, :9][real], expected.rtd[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(found.rmd, expected.rmd, atol=1e-5, rtol=0)
    attended = network(wider, torch.full_like(lengths, 16))
    assert (attended.rmd - expected.rmd).abs().min() > 1e-3


def test_the_order_of_tokens_does():
    network, (ids, lengths) = discriminator(), batch([9])
    swapped = ids[:, [0, 2, 1, *range(3, 9)]]
    assert (network(ids, lengths).rmd - network(swapped, lengths).rmd).abs().max() > 1e-3


def test_a_block_is_torchs_post_layernorm_layer():
    block = shaken(Block(SMALL))
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, dropout=0.0, activation="gelu", layer_norm_eps=1e-12, batch_first=True
    )
    # torch's order: attention (in, out), feed-forward (in, out), norms
    parts = (block.query_key_value, block.attended, block.expand, block.contract)
    ours = [p for part in (*parts, block.attention_norm, block.norm) for p in part.parameters()]
    with torch.no_grad():
        for p, q in zip(layer.parameters(), ours, strict=True):
            p.copy_(q)
    x, pads = torch.randn(2, 5, 8, generator=seeded()), torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    bias = torch.zeros(2, 5).masked_fill(pads, -torch.inf)[:, None, None, :]
    expected = layer(x, src_key_padding_mask=pads)
    torch.testing.assert_close(block(x, bias)[~pads], expected[~pads], atol=1e-5, rtol=1e-5)


def test_attention_with_gradients_is_attention_without():
    network, (ids, lengths) = discriminator(), batch([12, 7])
    with_gradients = network(ids, lengths)
    assert with_gradients.rtd.requires_grad
    with torch.no_grad():
        without = network(ids, lengths)
    real = electra.is_real(ids, lengths)
    torch.testing.assert_close(with_gradients.rtd[real], without.rtd[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(with_gradients.rmd, without.rmd, atol=1e-5, rtol=0)


def test_the_gradient_of_attention_is_that_of_torchs():
    random = seeded()
    q, k, v = (torch.randn(2, 3, 5, 4, generator=random, requires_grad=True) for _ in range(3))
    bias = torch.tensor([[0.0] * 5, [0.0] * 3 + [-torch.inf] * 2])[:, None, None, :]
    to = torch.randn(2, 3, 5, 4, generator=random)
    ours, torchs = electra._attention(q, k, v, bias, 0.0), F.scaled_dot_product_attention(q, k, v, bias)
    torch.testing.assert_close(ours, torchs)
    found, expected = (torch.autograd.grad((out * to).sum(), (q, k, v)) for out in (ours, torchs))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_dropout_drops_in_training_alone():
    network = shaken(Discriminator(Embeddings(N_PIECES, 20, size=6), Shape(8, 1, 2, 16, dropout=0.5), 3))
    ids, lengths = batch([9, 5])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        first, second = (network.train()(ids, lengths).rmd for _ in range(2))
        assert not torch.equal(first, second)
        first, second = (network.eval()(ids, lengths).rmd for _ in range(2))
        assert torch.equal(first, second)


@pytest.fixture(scope="module")
def of_the_paper():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Discriminator(Embeddings(30522, 130), Shape(), 50)


def test_the_discriminator_of_the_paper_has_seven_million_parameters(of_the_paper):
    # per layer: attention, two norms, feed-forward
    layer = 4 * (256 * 256 + 256) + 2 * 2 * 256 + (256 * 1024 + 1024) + (1024 * 256 + 256)
    heads = 2 * (256 * 256 + 256) + (256 + 1) + (256 * 50 + 50)
    before = (30522 + 130 + 1) * 128 + 2 * 128 + (128 * 256 + 256)
    n_parameters = sum(p.numel() for p in of_the_paper.parameters())
    assert n_parameters == before + 4 * layer + heads
    assert round(n_parameters / 1e6, 1) == 7.3


def test_weights_begin_normal_with_a_deviation_of_two_hundredths_and_biases_at_zero(of_the_paper):
    weights = {
        name: module.weight
        for name, module in of_the_paper.named_modules()
        if isinstance(module, nn.Linear | nn.Embedding)
    }
    assert "encoder.embeddings.token_type" in weights
    for name, weight in weights.items():
        n = weight.numel()
        assert weight.std().item() == pytest.approx(0.02, rel=5 / (2 * n) ** 0.5), name
        assert abs(weight.mean().item()) < 5 * 0.02 / n**0.5, name
    assert weights["encoder.embeddings.token"].abs().max() > 4.5 * 0.02  # a uniform one would end at 1.7
    assert not any(p.any() for name, p in of_the_paper.named_parameters() if name.endswith("bias"))


def test_a_learned_generator_begins_like_the_discriminator():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        generator = LearnedGenerator(Embeddings(10, 10), Shape(64, layers=1), MASK_ID)
    for name, module in generator.named_modules():
        if isinstance(module, nn.Linear):
            assert module.weight.std().item() == pytest.approx(0.02, rel=0.05), name
            assert not module.bias.any(), name
    assert not generator.bias.any()
