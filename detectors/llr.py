"""Log-likelihood ratio of words: training text against general English; no network, no vectors.

A document is abnormal when its words are less frequent in the training documents than in the
language at large. With w the words of a document, its score is

    - sum over w of log[ (n(w) + a q(w)) / (N + a) / q(w) ] / (length + k)

where n(w) is the count of w in the training documents, N their number of words, q(w) the frequency
of w in the background, a the smoothing and k the length shrinkage (short documents carry less
evidence). It is what DATE's token score is nearly equal to: the best prediction of replaced
tokens that looks only at the token (Manolache et al., NAACL 2021, section 3, with a random
generator) is a monotone function of n(w) / (N q(w)).

The background is knowledge from outside the training text, and defines what is "ordinary":

- ``wordfreq``: frequencies of a language in subtitles, web, books, news and encyclopaedia, from
  the library of that name; a word it does not know has frequency 1e-8.
- ``vectors``: Zipf's law over the order of a file of word vectors, 1 / (rank + 2.7); for GloVe 6B
  that is the order of encyclopaedia and newswire text, closer to news than to conversation.
- ``mean``: the mean of the two frequencies.
- ``uniform``: every word is equally ordinary (one in 400,000); no outside knowledge.
"""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import check_choice, check_number
from adbench_text.errors import InvalidValueError
from adbench_text.plugins.detector import TextDetector, TokenScore
from adbench_text.plugins.regimes import FROM_SCRATCH, WORDS
from adbench_text.text import vectors
from adbench_text.text.words import count_words, word_positions

BACKGROUNDS = ("wordfreq", "vectors", "mean", "uniform")
_UNKNOWN = 1e-8  # wordfreq's own floor for its large lists
_N_WORDS = 400_000  # size of GloVe's vocabulary: the rank of an unknown word
_ZIPF_SHIFT = 2.7  # Mandelbrot's correction for the most frequent words
_ZIPF_TOTAL = float((1 / (np.arange(_N_WORDS) + _ZIPF_SHIFT)).sum())


@cache
def _languages() -> frozenset[str]:
    from wordfreq import available_languages

    return frozenset(available_languages())


@cache
def _wordfreq(language: str) -> dict[str, float]:
    from wordfreq import get_frequency_dict

    return get_frequency_dict(language, wordlist="best")


class LLR(TextDetector):
    """Log-likelihood ratio of words against a background; see the head of the module.

    Parameters
    ----------
    background : {"wordfreq", "vectors", "mean", "uniform"}, default "wordfreq"
        Where the ordinary frequency of a word comes from.
    vectors : str, default "glove-wiki-gigaword-50"
        For the backgrounds ``vectors`` and ``mean``: word vectors in order of frequency.
    language : str, default "en"
        For the backgrounds ``wordfreq`` and ``mean``: one of wordfreq's languages.
    smoothing : float, default 1e4
        Weight of the background in the training frequencies, in words; positive.
    shrinkage : float, default 5
        Words of no evidence added to every document; at least 0.
    contamination, random_state
        See `TextDetector`; nothing is random.

    Examples
    --------
    >>> sea = ["the ship left the harbour", "a storm hit the crew", "the crew sailed the ship"] * 10
    >>> detector = LLR(background="wordfreq").fit(sea)
    >>> near, far = detector.decision_function(["the ship and its crew", "the court heard a witness"])
    >>> bool(far > near)
    True
    >>> max(detector.token_scores(["the ship hit a lawyer"])[0], key=lambda token: token.score).token
    'lawyer'
    """

    def __init__(
        self,
        *,
        background: str = "wordfreq",
        vectors: str = "glove-wiki-gigaword-50",
        language: str = "en",
        smoothing: float = 1e4,
        shrinkage: float = 5.0,
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        self.background = background
        self.vectors = vectors
        self.language = language
        self.smoothing = smoothing
        self.shrinkage = shrinkage

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of range."""
        super().check_params()
        check_choice("background", self.background, BACKGROUNDS)
        check_number("smoothing", self.smoothing, "(0, inf)")
        check_number("shrinkage", self.shrinkage)
        if self._reads_vectors:
            vectors.check_name(self.vectors)
            if self.vectors == vectors.LOCAL:
                raise InvalidValueError(
                    f"{vectors.LOCAL} has no order of frequency; give the name or path of a file of vectors."
                )
        if self._reads_wordfreq:
            check_choice("language of wordfreq", self.language, _languages())
            _wordfreq(self.language)  # reads the list now: the time of a later fit is measured

    @property
    def _reads_vectors(self) -> bool:
        return self.background in ("vectors", "mean")

    @property
    def _reads_wordfreq(self) -> bool:
        return self.background in ("wordfreq", "mean")

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents."""
        return FROM_SCRATCH if self.background == "uniform" else WORDS

    def prepare(self, texts: Sequence[str]) -> None:
        """Look up the places of all words of a corpus in one pass over the file of vectors."""
        if self._reads_vectors:
            vectors.load(self.vectors, count_words(texts).vocabulary)

    def resources(self) -> dict[str, str]:
        """Return the version of wordfreq and the digest of the file of vectors, where used."""
        used = {}
        if self._reads_wordfreq:
            used["wordfreq"] = version("wordfreq")
        if self._reads_vectors:
            used["vectors"] = vectors.digest(self.vectors)
        return used

    def _fit(self, texts: list[str]) -> None:
        counts, vocabulary = count_words(texts)
        self._count_of = dict(zip(vocabulary, np.asarray(counts.sum(axis=0)).ravel().tolist(), strict=True))
        self._n_words = int(counts.sum())

    def _score(self, texts: list[str]) -> NDArray[np.float64]:
        counts, vocabulary = count_words(texts)
        length = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        # a document without words has a sum of 0: no evidence either way, a ratio of 1
        evidence: NDArray[np.float64] = counts @ self._log_ratio(vocabulary)
        return -evidence / np.maximum(length + self.shrinkage, 1)

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the negative log ratio of every word; its shrunk mean is the score of the document."""
        scored = []
        for text in self._check_fitted(texts):
            words = list(word_positions(text))
            ratios = self._log_ratio(np.array([word.word for word in words], dtype=object))
            scored.append(
                [TokenScore(*word, -ratio) for word, ratio in zip(words, ratios.tolist(), strict=True)]
            )
        return scored

    def _log_ratio(self, words: NDArray[Any]) -> NDArray[np.float64]:
        """Return log[ p(w) / q(w) ] of each word; positive where the training documents prefer it."""
        q = self._background_frequency(words)
        n = np.array([self._count_of.get(word, 0) for word in words], dtype=np.float64)
        return np.log((n + self.smoothing * q) / (self._n_words + self.smoothing) / q)

    def _background_frequency(self, words: NDArray[Any]) -> NDArray[np.float64]:
        frequencies = []
        if self.background == "uniform":
            frequencies.append(np.full(len(words), 1 / _N_WORDS))
        if self._reads_wordfreq:
            table = _wordfreq(self.language)
            frequencies.append(np.array([table.get(word, _UNKNOWN) for word in words], dtype=np.float64))
        if self._reads_vectors:
            loaded = vectors.load(self.vectors, words)
            rows = loaded.rows(words)
            ranks = np.where(rows >= 0, loaded.ranks[rows], _N_WORDS)
            frequencies.append(1 / (ranks + _ZIPF_SHIFT) / _ZIPF_TOTAL)
        mean: NDArray[np.float64] = np.mean(frequencies, axis=0)
        return mean
