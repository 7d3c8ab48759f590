"""Form of documents as written: length, characters and kinds of words, but not the topic.

A document is abnormal if its length, its characters or its kinds of words differ from the training
documents: spam among messages, program text or tables of numbers among prose, another language. Cleaning
removes most of this, so the detector reads documents as written. A document becomes a few facts, which are
natural logarithms. With L characters, W words, and x characters or words of some kind (see `facts`), they are

    log(1 + L), log(1 + W), log((letters + 1) / (W + 1)), log((different words + 1) / (W + 1)),
    log(1 + characters of the longest word), log((x + 0.5) / (L + 10)) for each kind,

and 0.3 times the surprise of the word with the most surprising letters, see `spelling`.

A fact is centred by its median and divided by sqrt(variance + 0.3^2), because a character that only one
document has must not be infinitely odd. Two distances measure how far a document lies from the others:

- M, the Mahalanobis distance. D is the matrix of the n training documents minus their mean, Q the inverse of
  D'D + 0.1 n I, and q = d'Q d. Then a new document d has M^2 = n q. A training document has its distance from
  the others, M^2 = c^2 (n - 1) q / (1 - c q) with c = n / (n - 1): a fit without the document gives the same
  (Sherman and Morrison, 1950).
- B, the mean Euclidean distance to the 20 nearest training documents, without itself (Angiulli and Pizzuti,
  2002). With more than 4,000, a random sample is searched, so that the time is linear in the number of
  documents.

Both are rounded to nine decimals, so that documents with the same facts have the same distances.

The score is the sum of the normal quantiles of two shares: the share of training documents with a lower M,
and the share with a lower B (Stouffer's way to join p-values). Above the highest distance, a quantile grows
by 1 for each standard deviation, so that very odd documents are ranked, too. A training document is left out
of its shares.

If documents are alike, a third distance R counts, see `precise`. It sees means that differ a little, such as
words that are half a letter longer. With z the sum above, r the normal quantile of R, and u from `precise`,
the score is then

    log(exp(2 z / sqrt(2)) + exp(2 * 2.5 u r)) / 2,

close to the larger of both: a document is odd if either says so.

The median and the variance of a fact come from all training documents, including the scored one, except in R.

References
----------
F. Angiulli, C. Pizzuti: Fast Outlier Detection in High Dimensional Spaces. PKDD 2002.

J. Sherman, W. J. Morrison: Adjustment of an Inverse Matrix Corresponding to a Change in One Element of a
Given Matrix. Annals of Mathematical Statistics 21, 1950.

R. Speer: wordfreq 3.0. Zenodo, 2022.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import norm

from adbench_text.checks import Choice, Range
from adbench_text.contract.detector import SharedParams, TextDetector
from adbench_text.contract.scores import FROM_SCRATCH, N_WHY, WORDS, Scores, TokenScore
from adbench_text.detectors._references import smallest
from adbench_text.detectors.form.facts import (
    COLUMN,
    FACTS,
    SURPRISE,
    Numbers,
    format_fact,
    logarithms,
    numbers,
    shown,
)
from adbench_text.detectors.form.precise import LEAST_SPREAD, Precise
from adbench_text.detectors.form.spelling import Spelling
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT
from adbench_text.text.folds import folds_of
from adbench_text.text.languages import LANGUAGE_TAG, check_language, has_frequencies, prepared, standard
from adbench_text.text.letters import blank_escapes, without_escapes
from adbench_text.text.words import Word, word_positions

# no paper describes it
CITATION = "adbench-text, see CITATION.cff"

_RIDGE = 0.1  # added to the variance of each fact
_LEAST_UPPER = 1e-3  # share of letters that are upper case; below it, the fact is left out
_LEAST_REASON = 1.0  # standard deviations from which on a fact is a reason
_LEAST_PRECISE = 2.0  # the same by R
_OF_PRECISE = 2.5  # weight of R
_SHARPNESS = 2.0  # of the larger of both
_LONGEST_WORD = 40  # characters of a word to show
_NEIGHBOURS = 20
_DECIMALS = 9  # of a distance; the others differ from machine to machine
_LEAST_SQUARE = 1e-12  # of a distance, as a share of the squares that it is computed from
_ROWS = 100  # of a block of distances, so that it stays in the cache
_MOST_REFERENCES = 4_000  # documents to search for neighbours: it takes a third of the time of a large file


class Form(TextDetector):
    """How far the form of a document lies from the others; see the head of the module.

    Parameters
    ----------
    language : str, default "en"
        Code of the language whose common words are known. If wordfreq has no list of them, no word counts as
        unknown.
    contamination, random_state
        See `TextDetector`; the seed draws the documents to search for neighbours.

    Attributes
    ----------
    decision_scores_ : float64 array of shape (n_train,)
        Scores of the training documents; each is left out of its distances, and of their scales.

    Examples
    --------
    >>> sea = ["The ship left the harbour.", "A storm hit the crew!", "The crew sailed the ship."] * 10
    >>> detector = Form().fit(sea)
    >>> near, far = detector.decision_function(["The ship hit a rock.", "<b>0041 1234</b>"])
    >>> bool(far > near)
    True
    >>> detector.reasons(["0041 1234 555"])[0][0]
    '85 % digits (others 0 %)'
    """

    ranges: ClassVar[Mapping[str, Range]] = {"language": Choice((), check_language, LANGUAGE_TAG)}
    leaves_out_self: ClassVar[bool] = True
    reads_raw: ClassVar[bool] = True
    computes_with = TextDetector.computes_with | {"wordfreq"}
    trusted_types = frozenset(
        {
            "adbench_text.detectors.form._Scale",
            "adbench_text.detectors.form.precise.Precise",
            "adbench_text.detectors.form.spelling.Spelling",
            "adbench_text.detectors.form.spelling._Counts",
        }
    )
    not_saved: ClassVar[frozenset[str]] = frozenset({"_scores_of_training"})

    def __init__(self, *, language: str = "en", **shared: Unpack[SharedParams]) -> None:
        super().__init__(**shared)
        self.language = language

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the defaults with the language of a dataset."""
        return {DEFAULT: [{"language": registry.language_of(dataset)}]}

    @classmethod
    def for_documents(
        cls, language: str, settings: Mapping[str, Any], *, normal: bool = False
    ) -> tuple[str, Mapping[str, Any]]:
        """Return the defaults with the language."""
        return "default", {"language": language}

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents: the words of the language."""
        return WORDS if has_frequencies(self.language) else FROM_SCRATCH

    def resources(self) -> dict[str, str]:
        """Return the version of wordfreq, if it is used."""
        return {"wordfreq": version("wordfreq")} if has_frequencies(self.language) else {}

    def _fit(self, texts: list[str]) -> None:
        counted = numbers(texts, self.language)
        self._spelling = Spelling.fit(self._prepared(texts))
        counted[:, SURPRISE] = _highest(self._spelling.surprise(self._prepared(texts), leave_out=True)[0])
        logs, totals = logarithms(counted), counted.sum(axis=0)
        self._others = np.median(shown(counted), axis=0)
        self._median = np.median(logs, axis=0)
        self._unit = 1 / np.sqrt(logs.var(axis=0) + LEAST_SPREAD**2)
        if totals[COLUMN["upper"]] <= _LEAST_UPPER * totals[COLUMN["letters"]]:
            self._unit[COLUMN["upper"]] = 0.0
        if not has_frequencies(self.language):
            self._unit[COLUMN["unknown"]] = 0.0
        standard = self._standard(logs)
        self._n, self._mean = len(texts), standard.mean(axis=0)
        centred = standard - self._mean
        self._inverse = np.linalg.inv(centred.T @ centred + _RIDGE * self._n * np.eye(len(FACTS)))
        places = np.random.default_rng(self.random_state).permutation(self._n)[:_MOST_REFERENCES]
        self._references = standard[places]
        distances = [_rounded(each) for each in self._left_out(standard, places)]
        self._scales = [_Scale.fit(of_training) for of_training in distances]
        self._precise = Precise.fit(counted, logs)
        precise = self._precise.left_out(logs)
        self._scale_of_precise = _Scale.fit(precise)
        of_training = np.sum([_quantiles_left_out(each) for each in distances], axis=0)
        self._scores_of_training = self._joined(of_training, _quantiles_left_out(precise))

    def _score(self, texts: list[str]) -> Scores:
        logs = logarithms(self._counted(texts, _highest(self._spelling.surprise(self._prepared(texts))[0])))
        standard = self._standard(logs)
        mahalanobis = np.sqrt(self._n * self._quadratic(standard))
        distances = mahalanobis, _nearest(standard, self._references).mean(axis=1)
        pairs = zip(self._scales, distances, strict=True)
        scores = np.sum([scale.quantiles(_rounded(each)) for scale, each in pairs], axis=0)
        return self._joined(scores, self._scale_of_precise.quantiles(self._precise.distances(logs)))

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set the attributes that `learned` returned."""
        super().restore(learned)
        if "_precise" not in learned:  # saved by an older version, where R does not count
            self._precise, self._scale_of_precise = Precise.none(), _Scale.fit(np.zeros(1))
        return self

    def _joined(self, scores: Scores, precise: Scores) -> Scores:
        """Return the scores of documents, given the sums of the quantiles of M and B, and the ones of R."""
        if not self._precise.times:
            return scores
        both = scores / np.sqrt(2), _OF_PRECISE * self._precise.times * precise
        return np.asarray(np.logaddexp(*(_SHARPNESS * each for each in both)) / _SHARPNESS)

    def _score_training(self, texts: list[str]) -> Scores:
        return self._scores_of_training

    def _prepared(self, texts: list[str]) -> list[str]:
        """Spell the words of documents as in the word list of the language."""
        return [prepared(without_escapes(text), self.language) for text in texts]

    def _counted(self, texts: list[str], surprise: Scores) -> Numbers:
        counted = numbers(texts, self.language)
        counted[:, SURPRISE] = surprise
        return counted

    def _standard(self, logs: Numbers) -> Numbers:
        """Return the standardised facts of documents, given their logarithms."""
        standard: Numbers = (logs - self._median) * self._unit
        return standard

    def _quadratic(self, standard: Numbers) -> Scores:
        """Return q of each document."""
        centred = standard - self._mean
        return np.asarray(((centred @ self._inverse) * centred).sum(axis=1))

    def _left_out(self, standard: Numbers, places: NDArray[np.int64]) -> list[Scores]:
        """Return both distances of each training document from the others."""
        n_others = max(self._n - 1, 1)
        c, q = self._n / n_others, self._quadratic(standard)
        distances = _nearest(standard, self._references, places)
        # a single training document has no neighbours
        mean = distances.mean(axis=1) if distances.shape[1] else np.zeros(self._n)
        return [c * np.sqrt(n_others * q / (1 - c * q)), mean]

    def reasons(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the facts that lie farthest from the training documents.

        A fact is a reason if it lies at least a standard deviation from the median, and adds to the
        Mahalanobis distance. Other facts may be normal, for example for so long a document. If R counts, a
        fact is also a reason if it lies at least two of its own standard deviations from the mean.
        """
        return self._reasons(self._check_fitted(texts))

    def training_reasons(self, places: Sequence[int]) -> list[list[str]]:
        """Return the same for training documents; a document is left out of the counts of letters."""
        texts = self._texts_of_training()
        return self._reasons([texts[place] for place in places], leave_out=True)

    def _reasons(self, texts: list[str], *, leave_out: bool = False) -> list[list[str]]:
        """Return the facts that make documents odd; with `leave_out`, they are training documents."""
        surprise, words = self._spelling.surprise(self._prepared(texts), leave_out=leave_out)
        counted = self._counted(texts, _highest(surprise))
        logs, own = logarithms(counted), shown(counted)
        standard, precise = self._standard(logs), self._precise.reasons(logs)
        centred = standard - self._mean
        # a fact is a reason if it is unusual and adds to the distance of the document
        is_reason = (np.abs(standard) >= _LEAST_REASON) & (centred * (centred @ self._inverse) > 0)
        is_reason[:, SURPRISE] &= standard[:, SURPRISE] > 0
        is_reason |= np.abs(precise) >= _LEAST_PRECISE
        size = np.maximum(np.abs(standard), np.abs(precise))
        names, found = list(FACTS), list[list[str]]()
        for row, order in enumerate(np.argsort(-size, axis=1, kind="stable")):
            texts_of = [
                format_fact(names[each], own[row, each], self._others[each])
                if each != SURPRISE
                else _of_letters(words[surprise[[row]].argmax()])
                for each in order
                if is_reason[row, each]
            ]
            found.append([text for text in texts_of if text][:N_WHY])
        return found

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return how surprising the letters of each word are: 0 for a usual word."""
        return self._token_scores(self._check_fitted(texts))

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the same for training documents; each is left out of the counts."""
        texts = self._texts_of_training()
        return self._token_scores([texts[place] for place in places], leave_out=True)

    def _token_scores(self, texts: list[str], *, leave_out: bool = False) -> list[list[TokenScore]]:
        surprise, words = self._spelling.surprise(self._prepared(texts), leave_out=leave_out)
        scored = []
        for text, begin, end in zip(texts, surprise.indptr[:-1], surprise.indptr[1:], strict=True):
            found = [words[number] for number in surprise.indices[begin:end]]
            of_word = dict(zip(found, surprise.data[begin:end].tolist(), strict=True))
            placed = [(word, self._spelled(text, word)) for word in self._positions(text)]
            own = [(word, [of_word[part] for part in parts if part in of_word]) for word, parts in placed]
            scored.append([TokenScore(*word, max(scores)) for word, scores in own if scores])
        return scored

    def _positions(self, text: str) -> Iterator[Word]:
        """Yield the words of a document; an apostrophe may be a letter in its language."""
        apostrophes = folds_of(standard(self.language)).apostrophes
        blank = blank_escapes(text)
        for word in word_positions(blank.translate(apostrophes) if apostrophes else blank):
            yield word._replace(word=text[word.start : word.end].lower()) if apostrophes else word

    def _spelled(self, text: str, word: Word) -> list[str]:
        """Return the counted spelling of a word; in Persian, a joiner separates it into several words."""
        return prepared(text[word.start : word.end], self.language).split()


def _highest(surprise: "csr_array[Any]") -> Scores:
    """Return the surprise of the most surprising word of each document, at least 0."""
    if not surprise.shape[1]:
        return np.zeros(surprise.shape[0])
    return np.maximum(np.asarray(surprise.max(axis=1).toarray(), dtype=np.float64).ravel(), 0.0)


def _of_letters(word: str) -> str:
    """Return the reason for a word with surprising letters."""
    return f'"{word:.{_LONGEST_WORD}}": unusual {"letters" if word.isalpha() else "characters"}'


class _Scale(NamedTuple):
    """The distances of training documents, and the normal quantile of each."""

    distances: Scores  # unique, in order
    normal: Scores
    deviation: float  # their standard deviation

    @classmethod
    def fit(cls, distances: Scores) -> Self:
        """Return the scale of distances."""
        different, times = np.unique(distances, return_counts=True)
        shares = (np.cumsum(times) - times / 2) / len(distances)
        return cls(different, norm.ppf(shares), _deviation(distances))

    def quantiles(self, distances: Scores) -> Scores:
        """Return the normal quantile of each distance; it keeps growing beyond the largest distance."""
        beyond = np.maximum(distances - self.distances[-1], 0) / self.deviation
        return np.asarray(np.interp(distances, self.distances, self.normal) + beyond)


def _deviation(distances: Scores) -> float:
    """Return the standard deviation of distances; 1 if all are equal, where NumPy may return 1e-16."""
    return float(distances.std()) if distances.min() < distances.max() else 1.0


def _quantiles_left_out(distances: Scores) -> Scores:
    """Return for each distance its normal quantile on the scale of the others; see `_Scale`."""
    different, place, times = np.unique(distances, return_inverse=True, return_counts=True)
    n, ends = len(distances) - 1, np.cumsum(times)
    if len(different) == 1:
        return np.zeros(n + 1)
    # quantiles of the distances before and after, if the one between them is left out
    before, after = norm.ppf((ends - times / 2)[:-1] / n), norm.ppf((ends - 1 - times / 2)[1:] / n)
    share = np.diff(different)[:-1] / (different[2:] - different[:-2])
    lower = distances[distances < different[-1]]
    beyond = (different[-1] - different[-2]) / _deviation(lower)
    between = before[:-1] + share * (after[1:] - before[:-1])
    alone = np.concatenate([after[:1], between, before[-1:] + beyond])
    # if others have the same distance, it stays on the scale
    shared = norm.ppf((ends - (times + 1) / 2) / n)
    quantiles: Scores = np.where(times > 1, shared, alone)[place]
    return quantiles


def _rounded(distances: Scores) -> Scores:
    """Round distances, so that documents with the same facts have the same distance."""
    return np.round(distances, _DECIMALS)


def _nearest(rows: Numbers, references: Numbers, own: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return the distances of rows to their nearest references, in order, of shape (n_rows, n_nearest).

    With `own`, the references are the rows at these places, and each is left out of its neighbours.
    """
    n = min(_NEIGHBOURS + (own is not None), len(references))
    # |x - r|^2 = |x|^2 + (x, 1) (-2 r, |r|^2)'
    towards = np.vstack([-2 * references.T, (references**2).sum(axis=1)])
    distances = np.empty((len(rows), n))
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        squares = np.hstack([block, np.ones((len(block), 1))]) @ towards
        square = (block**2).sum(axis=1, keepdims=True)
        nearest = smallest(squares, n) + square
        nearest[nearest < _LEAST_SQUARE * (1 + square)] = 0  # the rest of a difference of equal numbers
        distances[start : start + _ROWS] = np.sqrt(nearest)
    if own is None:
        return distances
    # a reference is nearest to itself; the other rows drop their last neighbour
    is_reference = np.isin(np.arange(len(rows)), own)
    return np.where(is_reference[:, None], distances[:, 1:], distances[:, :-1])
