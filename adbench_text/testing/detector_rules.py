"""The rules of the detector contract; the docstring of a function is the rule."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from adbench_text.code_version import code_of
from adbench_text.contract.scores import REGIMES, TEST_BATCH, UNSAVED
from adbench_text.errors import DetectorError
from adbench_text.failures import described
from adbench_text.plugins import registry
from adbench_text.plugins.configure import presets
from adbench_text.plugins.foreign import SIGN_NOTE, Foreign
from adbench_text.testing.rules import Note, Rule
from adbench_text.testing.subject import OUTLIER, TEST, TRAIN, Subject, split_of
from adbench_text.testing.topics import TOPICS

_COPIES = 26  # of the test texts: 1,040 texts are more than detectors score at once
_UPSIDE_DOWN = 0.3  # a lower AUROC means a wrong sign
_ODD = ["", " \n\t", "zzz qqq", "ship", "ship " * 20_000, "a" * 50_000, "船 が 港 に"]
_ODD += ["\x00\x01ship\x7f", "🙂", "ſhip", "\ud800"]


def is_built(subject: Subject) -> Iterator[str]:
    """It can be built with its defaults, and with its settings for tests."""
    subject.kind().check_params()
    for name in subject.settings:
        if name not in subject.parameters:
            yield f"it has no hyper-parameter {name!r}, which test_settings name"
            return
    subject.make().check_params()


def keeps_parameters(subject: Subject) -> Iterator[str]:
    """It stores its hyper-parameters as given, so that it can be cloned."""
    detector = subject.make()
    parameters = detector.get_params()
    for name, value in subject.settings.items():
        if name not in parameters:
            yield f"get_params() lacks {name!r}"
        elif not _equal(parameters[name], value):
            yield f"{name}={value!r} became {parameters[name]!r}: store it unchanged"
    copied = clone(detector).get_params()
    if not _equal(copied, parameters):
        yield f"a clone has other hyper-parameters: {copied!r:.80}"
    again = subject.kind().set_params(**parameters).get_params()
    if not _equal(again, parameters):
        yield f"set_params leads to other hyper-parameters: {again!r:.80}"


def learns_and_scores(subject: Subject) -> Iterator[str]:
    """It learns eighty short texts, and gives forty others finite scores that are not all equal."""
    detector = subject.make()
    if subject.fit(detector) is not detector:
        yield "fit must return the detector itself"
    scores = subject.scores  # this raises DetectorError if a score is not finite
    if scores.min() == scores.max():
        yield f"all {len(TEST)} scores are {scores[0]:g}"


def outliers_score_higher(subject: Subject) -> Iterator[str]:
    """A higher score is more abnormal."""
    aurocs = [roc_auc_score(OUTLIER, subject.scores)]
    if aurocs[0] < 1 - _UPSIDE_DOWN:  # otherwise the first split is enough
        for inlier in list(TOPICS)[1:]:
            train, test = split_of(inlier)  # its outliers are at the same places as in `OUTLIER`
            scores = subject.fit(subject.make(), train).decision_function(test)
            aurocs.append(roc_auc_score(OUTLIER, scores))
    median = f"AUROC {100 * np.median(aurocs):.0f} %"
    if np.median(aurocs) < _UPSIDE_DOWN:
        yield f"{median} on most splits: is higher more abnormal?"
    else:
        yield Note(f"{median} on {'an easy split' if len(aurocs) == 1 else 'easy splits'}")
    if isinstance(subject.fitted, Foreign) and subject.fitted.is_turned:
        yield Note(SIGN_NOTE)


def same_seed_same_scores(subject: Subject) -> Iterator[str]:
    """The same seed gives the same scores."""
    again = subject.fit(subject.make()).decision_function(TEST)
    if not np.array_equal(again, subject.scores):
        yield (
            f"two fits with the same seed differ by up to {np.abs(again - subject.scores).max():.3g}: "
            "draw all random numbers with random_state"
        )


def scores_each_text_by_itself(subject: Subject) -> Iterator[str]:
    """A score does not depend on the order of the texts, nor on other texts unless it is transductive."""
    detector, scores = subject.fitted, subject.scores
    if not np.array_equal(detector.decision_function(TEST), scores):
        yield "two calls of decision_function differ: score without random numbers"
        return
    many = TEST * _COPIES
    order = np.random.default_rng(0).permutation(len(many))
    ordered = detector.decision_function(many)
    permuted = detector.decision_function([many[i] for i in order])
    single = np.array([detector.decision_function([text])[0] for text in TEST[15:25]])
    cases = [("in another order", permuted, ordered[order])]
    if detector.regime != TEST_BATCH:
        cases += [("alone", single, scores[15:25]), ("among more", ordered[: len(TEST)], scores)]
    elif np.abs(single - scores[15:25]).max() <= 0.01 * scores.std():
        yield f"the regime is {TEST_BATCH!r}, but the scores do not depend on the batch"
    for case, others, own in cases:
        # rounding depends on the batch
        if not np.allclose(others, own, rtol=1e-5, atol=max(1e-6, 1e-4 * scores.std())):
            yield (
                f"scored {case}, a text has another score, by up to {np.abs(others - own).max():.3g}: score "
                f"each text by itself; if it needs its batch, in any order, set regime = TEST_BATCH"
            )
            return


def forgets_the_first_fit(subject: Subject) -> Iterator[str]:
    """Fitting again forgets the first fit."""
    detector = subject.fit(subject.make(), TEST)
    detector.decision_scores_  # noqa: B018  # so that the detector remembers them
    subject.fit(detector)
    if not np.array_equal(detector.decision_function(TEST), subject.scores):
        yield "a second fit gives other scores than a first one"
    if detector.decision_scores_.shape != (len(TRAIN),):
        yield "a second fit keeps the first decision_scores_"


def leaves_texts_alone(subject: Subject) -> Iterator[str]:
    """It does not change the list of texts."""
    texts = {
        "fit": subject.fitted._texts_of_training(),
        "decision_function": list(TRAIN),
        "prepare": list(TRAIN),
    }
    subject.fitted._score(texts["decision_function"])
    subject.make().prepare(texts["prepare"])
    for name, after in texts.items():
        if after != TRAIN:
            yield f"{name} changes the list of texts: work on a copy"


def scores_odd_texts(subject: Subject) -> Iterator[str]:
    """Odd texts get finite scores: empty, very long, or without a known word."""
    settings: list[dict[str, Any]] = [{"encoder": "svd"}] if "encoder" in subject.parameters else [{}]
    if {"encoder", "vectors"} <= subject.parameters.keys():  # tfidf averages word vectors
        settings = [{"encoder": "tfidf"}, *settings]
    for more in settings:
        before = subject.fit(subject.make(**more)) if more else subject.fitted
        after = subject.fit(subject.make(**more), TRAIN + _ODD)
        for detector in (before, after):
            for text in _ODD:
                try:
                    detector.decision_function([text])
                except Exception as error:
                    reason = described(error, subject.kind.__module__)
                    yield f"the text {text!r:.20} of {len(text)} characters: {reason}"
                    return
            detector.decision_function(_ODD)


def can_be_pickled(subject: Subject) -> Iterator[str]:
    """A fitted detector can be pickled."""
    again = pickle.loads(pickle.dumps(subject.fitted))
    if not np.array_equal(again.decision_function(TEST), subject.scores):
        yield "a detector from a pickle has other scores"


def has_valid_presets(subject: Subject) -> Iterator[str]:
    """Every configuration of a preset is valid and unique."""
    for dataset in registry.names("datasets"):
        for preset, grid in presets(subject.kind, dataset).items():
            if len({str(sorted(one.items())) for one in grid}) != len(grid):
                yield f"preset {preset!r} of {dataset} has a configuration twice"
            for one in grid:
                if unknown := one.keys() - subject.parameters.keys():
                    yield f"preset {preset!r} of {dataset}: no hyper-parameter {min(unknown)!r}"
                else:
                    subject.make(**one).check_params()


def describes_itself(subject: Subject) -> Iterator[str]:
    """Its regime and resources have the types that the harness logs."""
    detector = subject.fitted
    if detector.regime not in (None, *REGIMES):
        yield f"regime must be one of {', '.join(REGIMES)}, got {detector.regime!r}"
    elif detector.regime is None:
        yield Note("it declares no regime")
    resources = detector.resources()
    if not all(isinstance(value, str) for item in resources.items() for value in item):
        yield f"resources() must map names to strings, got {resources!r:.60}"
    if detector.trusted_types is None:
        yield Note(f"fit cannot save it: {UNSAVED}")


def has_token_scores_in_place(subject: Subject) -> Iterator[str]:
    """If it scores words, the scores are finite, and each word is at its place in the text."""
    try:
        scored = subject.fitted.token_scores(TEST)
    except DetectorError:
        yield Note("none")
        return
    if len(scored) != len(TEST):
        yield f"token_scores of {len(TEST)} texts has {len(scored)} entries"
    for text, tokens in zip(TEST, scored, strict=False):
        for token, start, end, score in tokens:
            # a token may be in lower case, and lack characters that cleaning removes
            if not 0 <= start <= end <= len(text) or token.lower() not in text[start:end].lower():
                yield f"the token {token!r} is not text[{start}:{end}]: {text[start:end]!r:.30}"
                return
            if not np.isfinite(score):
                yield f"the score of {token!r} is {score}"
                return


def has_known_code(subject: Subject) -> Iterator[str]:
    """A change of its code makes results outdated; resources() has digests of its data files."""
    plugin: tuple[Any, ...] = subject.kind, subject.kind().implementation
    files = code_of(*plugin).files
    yield Note(", ".join(sorted(path.name for path in files.values())) if files else "its release counts")


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values, or two arrays, are equal; objects without equality by their repr."""
    return one is other or bool(np.all(one == other)) or repr(one) == repr(other)


ESSENTIAL: tuple[Rule[Subject], ...] = (is_built, learns_and_scores)
RULES: tuple[Rule[Subject], ...] = (
    is_built,
    keeps_parameters,
    learns_and_scores,
    outliers_score_higher,
    same_seed_same_scores,
    scores_each_text_by_itself,
    forgets_the_first_fit,
    leaves_texts_alone,
    scores_odd_texts,
    can_be_pickled,
    has_valid_presets,
    describes_itself,
    has_token_scores_in_place,
    has_known_code,
)
