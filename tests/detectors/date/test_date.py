"""DATE as a detector: training, scores of texts and of their words."""

import math
import pickle
from collections import Counter

import numpy as np
import pytest
import torch
from observers import Watching
from parameters import slow
from sklearn.metrics import roc_auc_score
from torch import nn

from adbench_text.contract.scores import FROM_SCRATCH
from adbench_text.contract.scores import WORDS as KNOWS_WORDS
from adbench_text.detectors.date import DATE, frequencies, training
from adbench_text.detectors.date.corruption import RandomGenerator
from adbench_text.detectors.date.cuda_graphs import CudaGraphs
from adbench_text.detectors.date.electra import Judgement
from adbench_text.detectors.date.scoring import SCORES, rmd_scores, token_scores, window_scores
from adbench_text.detectors.date.windows import Windows
from adbench_text.errors import DetectorError, InvalidValueError
from adbench_text.text.wordpiece import FIRST, Pieces

WORDS = "ship harbour sail tide anchor captain wave crew island storm".split()
OTHERS = "judge court statute appeal verdict counsel trial witness clause evidence".split()


def texts_of(words: list[str], n: int, seed: int = 0, length: int = 12) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, size=length)) for _ in range(n)]


TRAIN, TEST = texts_of(WORDS, 60), texts_of(WORDS, 10, seed=1) + texts_of(OTHERS, 10, seed=2)


def small(**settings) -> DATE:
    sizes = {"max_length": 32, "n_patterns": 4, "batch_size": 8, "layers": 1, "hidden": 32}
    sizes |= {"steps": 60, "epochs": 1000}
    defaults = {"vocabulary": "trained", "learning_rate": 1e-3, "precision": "fp32", "random_state": 0}
    return DATE(**{**sizes, **defaults, **settings})


#: The English one has a share for each piece of the vocabulary, which takes seconds.
GENERATORS = pytest.mark.parametrize("generator", ["random", *slow("english")])


@pytest.fixture(scope="module")
def expected():
    """Scores of a training with the settings of `small`."""
    return small().fit(TRAIN).decision_function(TEST)


def test_the_losses_are_logged_and_fall():
    detector = small(steps=120)
    detector.observer = watching = Watching()
    detector.fit(TRAIN)
    assert watching.steps == [50, 100, 120]
    assert set(watching.seen) == {"loss_total", "loss_rtd", "loss_rmd"}
    assert watching.seen["loss_rtd"][-1] < watching.seen["loss_rtd"][0] < 0.8
    total = 50 * np.array(watching.seen["loss_rtd"]) + 100 * np.array(watching.seen["loss_rmd"])
    np.testing.assert_allclose(watching.seen["loss_total"], total, rtol=1e-5)


def test_after_an_interruption_it_is_not_fitted_and_the_next_training_is_a_whole_one(expected):
    detector = small()

    def interrupt():
        raise KeyboardInterrupt

    detector.observer = Watching(at=50, action=interrupt)
    with pytest.raises(KeyboardInterrupt):
        detector.fit(TRAIN)
    with pytest.raises(InvalidValueError, match=r"DATE .*fit"):
        detector.decision_function(TEST)
    detector.observer = None
    np.testing.assert_array_equal(detector.fit(TRAIN).decision_function(TEST), expected)


def test_a_loss_that_is_no_number_is_a_clear_error():
    with pytest.raises(DetectorError, match=r"nan at step 50; .*learning_rate"):
        small(learning_rate=1e37).fit(TRAIN)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"score": "mp"},
        {"score": "ne"},
        {"score": "pl_rmd", "rtd_weight": 0},
        {"n_patterns": 0, "rmd_weight": 0, "mask_share": 0.15},
        {"generator": "small"},
        {"generator": "large", "precision": "bf16"},
        {"precision": "bf16"},
    ],
    ids=str,
)
def test_every_variant_trains_and_scores(settings):
    detector = small(**settings)
    detector.observer = watching = Watching()
    scores = detector.fit(TRAIN).decision_function([*TEST, ""])
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
    assert (scores <= (2 if settings.get("score") == "ne" else 1)).all()
    assert ("loss_mlm" in watching.seen) == ("generator" in settings)
    assert ("loss_rmd" in watching.seen) == (settings.get("rmd_weight") != 0)


@pytest.mark.parametrize("length", [{"steps": 0}, {"epochs": 0}], ids=str)
def test_without_a_step_the_network_is_as_it_was_drawn(length):
    drawn = small(**length).fit(TRAIN)._objective.state_dict()
    start = small(steps=1, learning_rate=1e-12).fit(TRAIN)._objective.state_dict()
    for name, weights in drawn.items():
        torch.testing.assert_close(weights, start[name], atol=1e-9, rtol=0)


@pytest.mark.slow
def test_the_english_generator_draws_pieces_by_their_frequency():
    detector = small(generator="english", steps=0).fit(["the ship and the harbour", "a ship xylograph"])
    wanted = frequencies.english(detector._pieces)
    n = 400_000
    noise = torch.rand((1, n), generator=torch.Generator().manual_seed(0))
    ids, masked = torch.zeros((1, n), dtype=torch.long), torch.ones((1, n), dtype=torch.bool)
    drawn, _ = detector._objective.generator(ids, torch.tensor([n]), masked, noise)
    counts = np.bincount(drawn[0].numpy(), minlength=len(wanted))
    assert counts[:FIRST].tolist() == [0] * FIRST
    assert (np.abs(counts - n * wanted) <= 5 * np.sqrt(n * wanted) + 1).all()
    unmasked, _ = detector._objective.generator(ids, torch.tensor([n]), ~masked, noise)
    assert torch.equal(unmasked, ids)


@pytest.mark.slow
def test_frequencies_of_pieces_are_those_of_english_words():
    detector = small(steps=0).fit(["the ship and the harbour", "a ship and the crew"])
    pieces = detector._pieces.pieces
    of = dict(zip(pieces, frequencies.english(detector._pieces), strict=True))
    assert sum(of.values()) == pytest.approx(1)
    assert of["[SEP]"] == 0
    assert of["the"] > of["and"] > of["ship"] > 0


@GENERATORS
@pytest.mark.parametrize("score", ["pl", "log_odds"])
def test_the_prior_alone_is_the_closed_form(generator, score):
    settings = {"prior": True, "steps": 0, "mask_share": 0.25, "max_length": 128}  # a window each
    detector = small(generator=generator, score=score, **settings).fit(TRAIN)
    pieces = detector._pieces
    drawn = {"random": frequencies.uniform, "english": frequencies.english}[generator](pieces)
    counts = Counter(pieces.encode(TRAIN).ids.tolist())

    def odds(piece):
        if piece < FIRST:
            return 1.0  # no generator draws a special token, such as [UNK]
        g = drawn[piece]
        p = (counts[piece] + 1e4 * g) / (sum(counts.values()) + 1e4)
        return 0.25 * g * (1 - p) / (p * (0.75 + 0.25 * g))

    for text, score_of_text in zip(TEST, detector.decision_function(TEST), strict=True):
        of_pieces = [odds(piece) for piece in pieces.encode([text]).ids]
        if score == "pl":
            by_hand = np.mean([*(each / (1 + each) for each in of_pieces), 0.5])  # [SEP] has even odds
        else:
            by_hand = np.mean(np.log(of_pieces))
        assert score_of_text == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.slow
def test_a_network_on_top_of_the_prior_learns_and_is_saved_with_it():
    detector = small(generator="english", prior=True, score="log_odds").fit(TRAIN)
    alone = small(generator="english", prior=True, score="log_odds", steps=0).fit(TRAIN)
    scores = detector.decision_function(TEST)
    assert np.abs(scores - alone.decision_function(TEST)).max() > 1e-3
    again = small(generator="english", prior=True, score="log_odds").restore(detector.learned())
    np.testing.assert_array_equal(again.decision_function(TEST), scores)


@pytest.mark.parametrize("settings", [{}, {"prior": True}, {"prior": True, "steps": 0}])
def test_the_logits_of_rtd_alone_are_those_of_both_tasks(settings):
    """Without a step of training the network is left out."""
    detector = small(**settings).fit(TRAIN)
    windows = detector._windows(TEST)
    ids, lengths = windows.batch(np.arange(len(windows)))
    network = detector._objective.discriminator.eval()
    runs = []
    network.encoder.register_forward_hook(lambda *_: runs.append(1))
    with torch.inference_mode():
        alone = network.rtd(ids, lengths)
        assert len(runs) == (detector.steps > 0)
        assert torch.equal(alone, network(ids, lengths).rtd)


@pytest.mark.parametrize("generator", ["small", "large"])
def test_a_prior_needs_known_frequencies(generator):
    with pytest.raises(InvalidValueError, match=rf"prior=true .*'{generator}'.*random, english"):
        small(generator=generator, prior=True).check_params()


def test_a_prior_is_of_rtd():
    with pytest.raises(InvalidValueError, match=r"prior=true .*'pl_rmd'"):
        small(prior=True, score="pl_rmd").check_params()


def test_knowledge_of_english_is_declared():
    assert (small().regime, small(generator="english").regime) == (FROM_SCRATCH, KNOWS_WORDS)
    assert "wordfreq" in small(generator="english").resources()
    assert "wordfreq" not in small().resources()


def test_a_training_that_its_epochs_cut_short_is_reported():
    assert "steps" not in small(steps=4).fit(TRAIN).ran_on_
    detector = small(steps=1500, epochs=2).fit(TRAIN)  # 60 documents, 8 a step
    assert detector.ran_on_["steps"] == "16 of 1,500, the end of epochs=2"


@pytest.mark.slow
def test_bfloat16_learns_what_fp32_learns():
    detector = small(steps=150, batch_size=16, max_length=64, precision="bf16").fit(TRAIN)
    assert roc_auc_score(np.arange(20) >= 10, detector.decision_function(TEST)) > 0.95
    assert detector.ran_on_["precision"] == "bfloat16"


def test_a_pickled_detector_is_as_large_as_its_weights():
    detector = small(steps=2, hidden=128, precision="bf16").fit(TRAIN)
    n_weights = sum(p.numel() for p in detector._objective.parameters())
    assert len(pickle.dumps(detector)) < 4 * n_weights + 100_000


def test_without_a_seed_two_trainings_differ():
    first, second = (small(random_state=None, steps=5).fit(TRAIN) for _ in range(2))
    assert not np.array_equal(first.decision_function(TEST), second.decision_function(TEST))


def training_of(detector: DATE, **changes) -> training.Training:
    settings = {"steps": 9, "batch_size": 4, "learning_rate": 1e-3, "mask_share": 0.5}
    settings |= {"patterns": detector._objective.patterns, "seed": 0, "dtype": torch.float32}
    return training.Training(**{**settings, **changes})


@pytest.mark.parametrize("n_patterns", [0, 4])
def test_cls_and_pads_are_never_masked(n_patterns):
    detector = small(n_patterns=n_patterns, rmd_weight=n_patterns, steps=1).fit(TRAIN)
    ids, lengths = detector._windows([*TEST, "ship", ""]).batch(np.arange(22))
    drawn = [training_of(detector).corruption(step, ids, lengths) for step in range(1, 200)]
    masked = torch.stack([corruption.masked for corruption in drawn]).float().mean(0)
    assert (masked[:, 0] == 0).all()
    for row, length in zip(masked, lengths, strict=True):
        assert (row[length:] == 0).all()
        assert 0.2 < row[1:length].mean() < 0.8
    if not n_patterns:  # each token by itself
        assert masked[0, 1 : lengths[0]].sub(0.5).abs().max() < 0.15


def test_the_seed_reaches_patterns_weights_batches_and_replacements():
    first, second = (small(random_state=seed, steps=1, learning_rate=1e-12).fit(TRAIN) for seed in (0, 1))
    assert not torch.equal(first._objective.patterns, second._objective.patterns)
    weights = [d._objective.discriminator.encoder.project.weight for d in (first, second)]
    assert not torch.allclose(*weights, atol=1e-3)
    batch = first._windows(TEST).batch(np.arange(4))
    one, other = (training_of(first, seed=seed).corruption(1, *batch) for seed in (0, 1))
    assert not torch.equal(one.noise, other.noise)
    assert not torch.equal(one.pattern, other.pattern)
    again = training_of(first).corruption(1, *batch)
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    later = training_of(first).corruption(2, *batch)
    assert not torch.equal(one.noise, later.noise)


def test_a_fit_leaves_the_global_random_state_alone():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    small(steps=3, dropout=0.1).fit(TRAIN)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("training", [TRAIN[:3], ["ship"], ["", "船 が 港 に", "\x00\x1f"]])
def test_few_and_odd_training_texts_are_enough(training):
    detector = small(steps=3).fit(training)
    assert np.isfinite(detector.decision_function(["", "ship", "law", "a b " * 50])).all()


@pytest.mark.parametrize("training", [["a", "a"], ["ship"], ["", "船 が 港 に", "\x00\x1f"]])
@GENERATORS
@pytest.mark.filterwarnings("error")
def test_a_prior_of_few_and_odd_training_texts_is_finite(training, generator):
    detector = small(generator=generator, prior=True, score="log_odds", steps=3).fit(training)
    assert np.isfinite(detector.decision_function(["", "a", "ship law", "船 x"])).all()


def test_training_texts_without_a_word_are_refused():
    with pytest.raises(InvalidValueError, match="no words"):
        small(steps=3).fit(["", " "])


def test_the_paper_preset_is_the_papers_configuration():
    assert DATE.presets("20news")["paper"] == [
        {"vocabulary": "bert-base-uncased", "max_length": 498, "n_patterns": 25, "mask_share": 0.25}
    ]
    (paper,) = DATE.presets("agnews")["paper"]
    assert (paper["max_length"], paper["n_patterns"], paper["mask_share"]) == (128, 50, 0.5)
    rest = DATE(**paper)
    assert (rest.rtd_weight, rest.rmd_weight, rest.generator, rest.score) == (50, 100, "random", "pl")
    assert (rest.steps, rest.epochs, rest.batch_size) == (5000, 30, 16)
    assert (rest.learning_rate, training.WEIGHT_DECAY, rest.dropout) == (1e-5, 0.1, 0)


@pytest.mark.parametrize("n_windows", [320, 500, 600, 40_000])
def test_the_fast_preset_trains_for_at_most_a_fifth_of_the_steps_of_the_default(n_windows):
    (settings,) = DATE.presets("mine")["fast"]
    DATE(**settings).check_params()

    def steps(date):
        return min(date.steps, date.epochs * math.ceil(n_windows / date.batch_size))

    assert 5 * steps(DATE(**settings)) <= steps(DATE())


@pytest.mark.parametrize("max_norm", [1e-9, 1e9])
def test_gradients_are_clipped(max_norm, monkeypatch, expected):
    monkeypatch.setattr(training, "MAX_NORM", max_norm)
    assert not np.array_equal(small().fit(TRAIN).decision_function(TEST), expected)


@pytest.mark.parametrize("generator", ["random", "small"])
def test_the_embeddings_have_a_learning_rate_of_their_own(generator, monkeypatch):
    monkeypatch.setattr(training, "WEIGHT_DECAY", 0)

    def weights(**rates):
        detector = small(steps=1, generator=generator, **rates).fit(TRAIN)
        return dict(detector._objective.named_parameters(remove_duplicate=False))

    name = "discriminator.encoder.embeddings.token.weight"
    start = weights(learning_rate=1e-12)
    one, other = weights(), weights(embedding_learning_rate=3e-3)
    for key in start:
        factor = 3 if key.endswith(".embeddings.token.weight") else 1  # a learned generator shares it
        torch.testing.assert_close(
            other[key] - start[key], factor * (one[key] - start[key]), atol=1e-6, rtol=0
        )
    assert (one[name] - start[name]).abs().max() > 1e-4
    again = weights(embedding_learning_rate=1e-3)
    assert all(torch.equal(again[key], one[key]) for key in one)


def test_a_gpu_that_is_not_there_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InvalidValueError, match="device='cpu'"):
        small(device="cuda").check_params()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_learns_what_the_cpu_learns():
    outlier = np.arange(20) >= 10
    detector = small(steps=150, batch_size=16, max_length=64, device="cuda", precision="auto")
    first, again = (detector.fit(TRAIN).decision_function(TEST) for _ in range(2))
    assert roc_auc_score(outlier, first) > 0.95
    np.testing.assert_array_equal(first, again)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"precision": "auto"},
        {"generator": "small", "dropout": 0.1},
        {"n_patterns": 0, "rmd_weight": 0, "mask_share": 0.15},
    ],
)
def test_on_a_gpu_recorded_steps_learn_exactly_what_plain_steps_learn(settings, monkeypatch):
    recorded = []

    class Counted(CudaGraphs):
        def _recorded(self, inputs):
            recorded.append(inputs[0].shape)
            return super()._recorded(inputs)

    documents = TRAIN + texts_of(WORDS, 40, seed=3, length=25)
    monkeypatch.setattr(training, "CudaGraphs", Counted)
    scores = small(**settings).fit(documents).decision_function(TEST)
    assert len(set(recorded)) == len(recorded) > 2
    monkeypatch.setattr(training, "CudaGraphs", lambda function: function)
    np.testing.assert_array_equal(small(**settings).fit(documents).decision_function(TEST), scores)


# Scores


class Vocabulary:
    cls, sep = 1, 2


class Fixed(nn.Module):
    """Judges every token by its id: P(replaced) = id / 100."""

    def forward(self, ids, lengths):
        return Judgement(self.rtd(ids, lengths), torch.zeros(len(ids), 2))

    def rtd(self, ids, lengths):
        return torch.logit(ids / 100)


def windows_of(*texts: list[int], max_length: int = 4) -> Windows:
    ends = np.cumsum([0, *map(len, texts)])
    return Windows(
        Pieces(np.array([piece for text in texts for piece in text], dtype=np.int32), ends),
        Vocabulary,
        max_length,
    )


def test_a_window_scores_the_mean_over_its_tokens_without_cls_pads_and_the_sep_of_a_full_window():
    scores = window_scores(Fixed(), windows_of([10, 30], [], [10, 20, 30, 40]), "pl")
    np.testing.assert_allclose(scores, [(0.1 + 0.3 + 0.02) / 3, 0.02, 0.25], rtol=1e-5)


def test_the_scores_of_a_token_by_hand():
    logit = torch.logit(torch.tensor([0.25], dtype=torch.float64))
    assert SCORES["pl"][0](logit).item() == pytest.approx(0.75)
    assert SCORES["mp"][0](logit).item() == pytest.approx(0.75)
    assert SCORES["ne"][0](logit).item() == pytest.approx(1.25 * np.log2(1.25) + 1.75 * np.log2(1.75))
    assert SCORES["log_odds"][0](logit).item() == pytest.approx(np.log(3))
    sure = torch.tensor([-torch.inf, torch.inf])
    for name in ("mp", "ne"):
        assert (SCORES[name][0](sure) == SCORES[name][1]).all()


def test_a_long_text_scores_the_mean_of_its_windows():
    detector = small(max_length=8, steps=5).fit(TRAIN)
    text = texts_of(WORDS, 1, length=30)[0]
    windows = detector._windows([text])
    assert len(windows) == 4
    expected = window_scores(detector._objective.discriminator, windows, "pl").mean()
    assert detector.decision_function([text])[0] == pytest.approx(expected)


class TellsPattern(nn.Module):
    """Knows the two patterns: id 50 at position 1 is pattern 0, at position 2 pattern 1."""

    def forward(self, ids, lengths):
        certain = torch.where(ids[:, 1:3] == 50, 20.0, 0.0)
        return Judgement(torch.zeros(ids.shape), certain)


def test_the_general_pseudo_label_asks_for_each_pattern_that_was_applied():
    patterns = torch.tensor([[0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]], dtype=torch.bool)
    objective = nn.Module()
    objective.generator, objective.discriminator = RandomGenerator(50, 51), TellsPattern()
    windows = windows_of([10, 11, 12], [10])
    scores = rmd_scores(objective, windows, patterns, torch.zeros(2, 6))
    # both patterns told; in the second text the second pattern masks its [SEP]
    np.testing.assert_allclose(scores, [0, 0], atol=1e-6)
    objective.discriminator = Fixed()  # an even chance for either
    np.testing.assert_allclose(rmd_scores(objective, windows, patterns, torch.zeros(2, 6)), [0.5, 0.5])


@pytest.mark.parametrize("score", SCORES)
def test_words_have_scores_at_their_places_and_their_pieces_make_the_texts_score(score):
    detector = small(score=score).fit(TRAIN)
    text = "Ship, the HARBOUR\tstörm judgement  -- ship"
    (words,) = detector.token_scores([text])
    assert [word.token for word in words] == "Ship , the HARBOUR störm judgement - - ship".split()
    assert all(text[word.start : word.end] == word.token for word in words)
    n_pieces = np.array([n for _, _, n in detector._pieces.words(text)])
    windows = detector._windows([text])
    ids, lengths = windows.batch(np.array([0]))
    with torch.no_grad():
        logits = detector._objective.discriminator(ids, lengths).rtd
    of, most, counts_sep = SCORES[score]
    total, n = n_pieces @ [word.score for word in words], n_pieces.sum()
    if counts_sep:
        total, n = total + float(most - of(logits[0, n + 1])), n + 1
    assert detector.decision_function([text])[0] == pytest.approx(total / n, rel=1e-5)


def test_pieces_in_the_overlap_of_windows_get_the_mean_of_both():
    class ByPlace(nn.Module):  # P(replaced) = place in the window / 10
        def rtd(self, ids, lengths):
            place = torch.arange(ids.shape[1]) / 10
            return torch.logit(place.clamp(0.01, 0.99)).expand(ids.shape)

    windows = windows_of([7] * 20, max_length=18)  # [0, 18) and [16, 20)
    assert windows.begin.tolist() == [0, 16]
    (scores,) = token_scores(ByPlace(), windows, "pl")
    np.testing.assert_allclose(scores[:9], np.arange(1, 10) / 10, rtol=1e-5)
    np.testing.assert_allclose(scores[16:], [(0.99 + 0.1) / 2, (0.99 + 0.2) / 2, 0.3, 0.4], rtol=1e-4)


def test_by_log_odds_a_text_without_pieces_has_even_odds():
    assert small(score="log_odds", steps=2).fit(TRAIN).decision_function([""]).tolist() == [0]


def test_a_text_without_words_has_no_token_scores():
    assert small(steps=2).fit(TRAIN).token_scores([""]) == [[]]


def test_token_scores_ask_for_a_fit_and_for_texts():
    detector = small(steps=2)
    with pytest.raises(InvalidValueError, match=r"DATE .*fit"):
        detector.token_scores(TEST)
    with pytest.raises(InvalidValueError, match=r"texts .*bare string"):
        detector.fit(TRAIN).token_scores("ship")


def test_a_text_judged_as_a_whole_has_no_token_scores():
    detector = small(score="pl_rmd", steps=2).fit(TRAIN)
    with pytest.raises(InvalidValueError, match="pl_rmd"):
        detector.token_scores(TEST)
