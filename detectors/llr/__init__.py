"""Log-likelihood ratio of words: training documents against general language; no network.

A document is abnormal if its words are less frequent in the training documents than in the
language at large. With w the words of a document, its score is

    -sum over w of min(log[ p(w) / q(w) ], cap) / (length + 5),   p(w) = (n(w) + a q(w)) / (N + a)

where n(w) is the count of w in the training documents, N their number of words, q(w) the frequency
of w in the background and a the smoothing; short documents have less evidence. DATE's token score is nearly
equal to this: the best prediction of replaced tokens that looks only at the token (Manolache et
al., NAACL 2021, section 3, with a random generator) is a monotone function of n(w) / (N q(w)).

The background is knowledge from outside the training documents, and defines "ordinary":

- ``wordfreq``: frequencies of a language in subtitles, web, books, news and encyclopaedia, from
  the library with this name; an unknown word has frequency 1e-8.
- ``vectors``: Zipf's law over the order of a file of word vectors, 1 / (rank + 2.7); GloVe 6B
  has the order of encyclopaedia and newswire text, closer to news than to conversation.
- ``mean``: the mean of the two frequencies.
- ``uniform``: every word is equally ordinary (one in 400,000); no outside knowledge.

With `characters`, character n-grams replace words, in the documents and in the background: parts of inflected
and compound words are known even if the whole word is not.

If documents have groups, such as queues of tickets, the training documents are one group, and the
background learns the words of all groups; see `adbench_text.contract.other_words`.

The cap is for jargon. Words that all documents of a field share are rare in general language. Without a cap,
they would be overwhelming evidence for the class in the training documents. Evidence against a document has
no cap.

A training document is scored by the counts of the others. The background learns from known outliers, so that
a document is judged against them, too; see `outliers`.

- ``preset topics``, for training data that are normal: the best of several topics judges a document
  (see `topics`); and the score adds the coherence of a document's word vectors (see `coherence`), the
  alternative hypothesis "the document has one topic".
- ``preset robust``, for training data with outliers: training documents that the background explains
  better move into the background, which learns the field from them (``em_rounds``; see `mixture`). Then the
  same as ``topics``, with the other training documents and this background.

References
----------
A. Manolache, F. Brad, E. Burceanu: DATE: Detecting Anomalies in Text via Self-Supervision of Transformers.
NAACL 2021.

R. Speer: wordfreq 3.0. Zenodo, 2022.

J. Pennington, R. Socher, C. D. Manning: GloVe: Global Vectors for Word Representation. EMNLP 2014.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from statistics import fmean
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from adbench_text.checks import Choice, Number, Range, Whole
from adbench_text.contract.detector import SharedParams, TextDetector, TokenScore
from adbench_text.contract.scores import FROM_SCRATCH, WORDS
from adbench_text.detectors._robust_scale import select
from adbench_text.detectors.llr.background import BACKGROUNDS, Background, frequencies, wordfreq
from adbench_text.detectors.llr.coherence import Directions, coherence
from adbench_text.detectors.llr.mixture import Counts, Mixture, cap_of, per_word, set_aside
from adbench_text.detectors.llr.outliers import Outliers
from adbench_text.detectors.llr.topics import DOCUMENTS_OF_A_TOPIC, Judged, Topics, mean_of
from adbench_text.errors import InvalidValueError
from adbench_text.plugins import registry
from adbench_text.plugins.configure import DEFAULT
from adbench_text.text import vectors
from adbench_text.text.languages import languages
from adbench_text.text.vocabulary import Vocabulary
from adbench_text.text.words import count_parts, count_words, parts_of, word_positions

# no paper describes it
CITATION = (
    "adbench-text, see CITATION.cff; it builds on the token score of DATE (Manolache et al., NAACL 2021)"
)

_TOPICS = {"background": "mean", "capped": 0.3, "coherence": 2, "topics": 16}
_ROBUST = {**_TOPICS, "em_rounds": 5}

_CUTOFF = 1.0  # robust standard deviations above the median; topics do not learn from higher documents
_MOST_DROPPED = 0.3  # share of documents that topics may leave out


def _without_vectors(language: str, preset: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a preset for a language without word vectors, and so without coherence."""
    own = {"language": language, "background": "wordfreq"}
    return {**preset, **(own if language in languages() else {"background": "uniform"}), "coherence": 0}


class LLR(TextDetector):
    """Log-likelihood ratio of words against a background; see the head of the module.

    Parameters
    ----------
    background : {"wordfreq", "vectors", "mean", "uniform"}, default "wordfreq"
        Source of the ordinary frequency of a word.
    vectors : str, default "glove-wiki-gigaword-50"
        Word vectors in order of frequency, for the backgrounds ``vectors`` and ``mean``, and for the
        coherence.
    language : str, default "en"
        For the backgrounds ``wordfreq`` and ``mean``: one of wordfreq's languages.
    smoothing : float, default 1e4
        Weight of the background in the training frequencies, in words; positive.
    cap : float or None, default 4
        Largest evidence of one word for the training documents, as a natural logarithm; positive. None
        (``null`` on the command line) for no limit.
    capped : float, default 0
        If above 0, the cap comes from the documents: it is the evidence that this share of their words
        reaches; in [0, 1).
    topics : int, default 1
        Largest number of topics. The score is a mean of scores: one with this number of topics, and one with
        a quarter of it. With `em_rounds`, the score with one topic is also in the mean. A topic has at least
        100 training documents on average.
    em_rounds : int, default 0
        Rounds that set aside 5 to 20 % of the training documents; 0 for none.
    coherence : float, default 0
        Weight of the coherence of a document's word vectors; at least 0. Character n-grams have no coherence.
    characters : int or None, default None
        Length of the character n-grams that replace words, as in `knn-words`. None for words.
    contamination, random_state
        See `TextDetector`; only the start of several topics is random.

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

    ranges: ClassVar[Mapping[str, Range]] = {
        "background": Choice(BACKGROUNDS),
        "vectors": vectors.VECTORS,
        "language": Choice(languages),
        "smoothing": Number("(0, inf)"),
        "cap": Number("(0, inf)", nullable=True),
        "capped": Number("[0, 1)"),
        "topics": Whole(1),
        "em_rounds": Whole(0),
        "coherence": Number("[0, inf)"),
        "characters": Whole(1, 100, nullable=True),
    }
    leaves_out_self: ClassVar[bool] = True
    takes_labels: ClassVar[bool] = True
    computes_with = TextDetector.computes_with | {"wordfreq"}
    trusted_types = frozenset(
        {
            "adbench_text.detectors.llr.coherence.Directions",
            "adbench_text.detectors.llr.mixture.Mixture",
            "adbench_text.detectors.llr.mixture.Side",
            "adbench_text.detectors.llr.outliers.Outliers",
            "adbench_text.detectors.llr.topics.Topics",
        }
    )
    not_saved: ClassVar[frozenset[str]] = frozenset(
        {"_aside", "_coherence", "_counts", "_place", "_vocabulary"}
    )

    def __init__(
        self,
        *,
        background: Background = "wordfreq",
        vectors: str = "glove-wiki-gigaword-50",
        language: str = "en",
        smoothing: float = 1e4,
        cap: float | None = 4.0,
        capped: float = 0.0,
        topics: int = 1,
        em_rounds: int = 0,
        coherence: float = 0.0,
        characters: int | None = None,
        **shared: Unpack[SharedParams],
    ) -> None:
        super().__init__(**shared)
        self.background = background
        self.vectors = vectors
        self.language = language
        self.smoothing = smoothing
        self.cap = cap
        self.capped = capped
        self.topics = topics
        self.em_rounds = em_rounds
        self.coherence = coherence
        self.characters = characters

    def check_params(self) -> None:
        """Raise InvalidValueError if a hyper-parameter is out of range, or two contradict each other."""
        super().check_params()
        if self.characters is not None and self.coherence:
            raise InvalidValueError(
                f"coherence={self.coherence:g} is of words, not of parts of {self.characters} characters; "
                "give coherence=0, or characters=null."
            )

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``topics`` and ``robust``. For a dataset that is not English, also return the default.

        Then all three do without word vectors.
        """
        named: dict[str, dict[str, Any]] = {"topics": _TOPICS, "robust": _ROBUST}
        if (language := registry.language_of(dataset)) != "en":
            named = {name: _without_vectors(language, each) for name, each in {DEFAULT: {}, **named}.items()}
        return {name: [settings] for name, settings in named.items()}

    @classmethod
    def for_documents(
        cls, language: str, settings: Mapping[str, Any], *, normal: bool = False
    ) -> tuple[str, Mapping[str, Any]]:
        """Return a preset for a user's own documents: ``topics`` if all are normal, otherwise ``robust``.

        The user's `settings` change the preset. If they replace words by character n-grams, there is no
        coherence. If they name word vectors, these are used, in any language. Otherwise there are word
        vectors only for English, if they are installed. Without word vectors there is no coherence either,
        and a note for the user follows the name of the preset.
        """
        name, preset = ("topics", _TOPICS) if normal else ("robust", _ROBUST)
        if settings.get("characters") is not None:
            preset = {**preset, "coherence": 0}
        if "vectors" in settings or vectors.has_english(language, LLR().vectors):
            own = {"language": language} if language in languages() else {"background": "vectors"}
            return name, {**preset, **own}
        return f"{name}, without word vectors", _without_vectors(language, preset)

    @property
    def _reads_vectors(self) -> bool:
        return self.background in ("vectors", "mean") or self.coherence > 0

    @property
    def _reads_wordfreq(self) -> bool:
        return self.background in ("wordfreq", "mean")

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents."""
        return WORDS if self._reads_vectors or self._reads_wordfreq else FROM_SCRATCH

    def prepare(self, texts: Sequence[str]) -> None:
        """Read the word frequencies and the file of word vectors, if they are used."""
        if self._reads_wordfreq:
            wordfreq(self.language)
        if self._reads_vectors:
            vectors.load(self.vectors)

    def resources(self) -> dict[str, str]:
        """Return the version of wordfreq and the digest of the file of vectors, if they are used."""
        used = {}
        if self._reads_wordfreq:
            used["wordfreq"] = version("wordfreq")
        if self._reads_vectors:
            used["vectors"] = vectors.digest(self.vectors)
        return used

    def _fit(self, texts: list[str]) -> None:
        """Count the words, find the cap, set documents aside, and fit topics on the other documents."""
        self._counts, self._vocabulary = counts, vocabulary = self._counted(texts)
        self._words, background = Vocabulary(vocabulary), self._frequencies(vocabulary)
        self._outliers = Outliers.of(*self._counted(self._known_labels.odd))
        self._aside = np.zeros(len(texts), dtype=np.bool_)
        cap = np.inf if self.cap is None else self.cap
        if self.capped:
            plain = Mixture.fit(counts, self._aside, background, self.smoothing, np.inf)
            cap = cap_of(plain.evidence(), plain.inliers.counts, self.capped)
        self._mixture = Mixture.fit(counts, self._aside, background, self.smoothing, cap)
        for _ in range(self.em_rounds):
            self._aside = set_aside(counts, self._mixture, self._aside)
            self._mixture = Mixture.fit(counts, self._aside, background, self.smoothing, cap)
        self._directions = Directions(self.vectors, vocabulary, self.language) if self.coherence else None
        self._coherence: NDArray[np.float64] | None = None  # of the training documents, once it is asked for
        self.kept_ = ~self._aside if self.em_rounds else None
        self._topics: list[Topics] = []  # `_fit_topics` scores the training documents without topics
        if self.topics > 1:
            self._topics = self._fit_topics(texts)

    def _fit_topics(self, texts: list[str]) -> list[Topics]:
        numbers = {max(self.topics // 4, 1), self.topics}
        kept = np.ones(len(self._aside), dtype=np.bool_)
        if self.em_rounds:
            # Similar outliers would become a topic, so documents that stand out are left out. One topic
            # of all documents joins the others.
            numbers |= {1}
            kept = select(self._score_training(texts), _CUTOFF, _MOST_DROPPED) & ~self._aside
            self.kept_ = kept
        self._place = np.where(kept, np.cumsum(kept) - 1, -1)
        counts, other = Counts(self._counts.matrix[kept]), self._mixture.other()
        largest = max(len(counts.lengths) // DOCUMENTS_OF_A_TOPIC, 1)
        return [
            Topics(counts, other, self.smoothing, self._mixture.cap, self.capped, number, self.random_state)
            for number in sorted({min(number, largest) for number in numbers})
        ]

    def _frequencies(self, words: NDArray[Any]) -> NDArray[np.float64]:
        of_language = frequencies(self.background, self.language, self.vectors, words, self.characters)
        return of_language if self.others is None else self.others.mixed(words, of_language, self.characters)

    def _judged(self, counts: Counts, vocabulary: NDArray[Any]) -> Judged:
        """Return the evidence of documents and of their entries."""
        rows = self._words.numbers(vocabulary)
        mixture = self._mixture.of_words(rows, self._frequencies(vocabulary))
        if self._topics:
            judged = mean_of([topics.judged(counts, rows, mixture.other()) for topics in self._topics])
        else:
            evidence = mixture.evidence()
            judged = Judged(counts.matrix @ evidence, evidence[counts.columns])
        return self._outliers.judged(judged, counts, vocabulary, mixture.background)

    def _judged_left_out(self, counts: Counts, places: Any = slice(None)) -> Judged:
        """Judge training documents like `_judged`, each left out of the counts of the model.

        `places` are the positions of these documents in the training data; by default all. `counts` has only
        their counts.
        """
        judged = self._judged_by_training(counts, places)
        return self._outliers.judged(judged, counts, self._vocabulary, self._mixture.background)

    def _judged_by_training(self, counts: Counts, places: Any) -> Judged:
        mixture, aside = self._mixture, self._aside[places]
        if not self._topics:
            entries = mixture.evidence_left_out(counts, ~aside, aside)
            return Judged(counts.sums(entries), entries)
        result = Judged(np.empty(len(aside)), np.empty(len(counts.columns)))
        place = self._place[places]
        is_member, others = place >= 0, place < 0
        if is_member.any():
            some, other = Counts(counts.matrix[is_member]), mixture.other()
            judged = [topics.judged_left_out(some, other, place[is_member]) for topics in self._topics]
            result.put(is_member, counts.rows, mean_of(judged))
        if others.any():
            some = Counts(counts.matrix[others])
            other = mixture.left_out(some, mixture.aside, aside[others])  # differs from document to document
            judged = [topics.judged(some.of_entries(), some.columns, other) for topics in self._topics]
            result.put(others, counts.rows, mean_of(judged))
        return result

    def _score(self, texts: list[str]) -> NDArray[np.float64]:
        counts, vocabulary = self._counted(texts)
        # a document without words has a sum of 0: without evidence, the ratio is 1
        score = self._coherence_of(counts, vocabulary) - self._judged(counts, vocabulary).sums
        return per_word(score, counts)

    def _score_training(self, texts: list[str]) -> NDArray[np.float64]:
        """Score the training documents; each is left out of the counts."""
        if self._coherence is None:
            self._coherence = self._coherence_of(self._counts, self._vocabulary)
        return per_word(self._coherence - self._judged_left_out(self._counts).sums, self._counts)

    def _coherence_of(self, counts: Counts, vocabulary: NDArray[Any]) -> NDArray[np.float64]:
        """Return the part of the coherence in the scores of documents."""
        if self._directions is None:
            return np.zeros(len(counts.lengths))
        directions = self._directions.of(self.vectors, vocabulary, self.language)
        return self.coherence * coherence(counts, directions)

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the negative evidence of every word; its shrunk mean is the score of the document.

        The coherence belongs to the document, not to its words, and is left out.
        """
        checked = self._check_fitted(texts)
        counts, vocabulary = self._counted(checked)
        return self._of_words(checked, counts, vocabulary, self._judged(counts, vocabulary).entries)

    def training_token_scores(self, places: Sequence[int]) -> list[list[TokenScore]]:
        """Return the negative evidence of every word; the document is left out of the counts."""
        texts, rows = self._texts_of_training(), np.asarray(places, dtype=np.int64)
        counts = Counts(self._counts.matrix[rows])
        entries = self._judged_left_out(counts, rows).entries
        return self._of_words([texts[row] for row in rows], counts, self._vocabulary, entries)

    def _counted(self, texts: Sequence[str]) -> tuple[Counts, NDArray[Any]]:
        """Count the terms of documents, in alphabetical order, whatever the order of the documents."""
        matrix, vocabulary = (
            count_words(texts) if self.characters is None else count_parts(texts, self.characters)
        )
        order = np.argsort(vocabulary)
        matrix = matrix[:, order]
        matrix.sort_indices()  # the last bit of a sum depends on its order
        return Counts(matrix), vocabulary[order]

    def _of_words(
        self, texts: Sequence[str], counts: Counts, vocabulary: NDArray[Any], entries: NDArray[np.float64]
    ) -> list[list[TokenScore]]:
        """Return the words of documents, scored by the negative evidence of the entries of their counts.

        A word gets the mean of its n-grams.
        """
        ends = counts.matrix.indptr.tolist()
        scored = []
        for text, start, end in zip(texts, ends[:-1], ends[1:], strict=True):
            terms = vocabulary[counts.columns[start:end]]
            ratio_of = dict(zip(terms, entries[start:end].tolist(), strict=True))
            # a few letters, such as sigma before an apostrophe, have another lower case if they stand alone
            scored.append(
                [TokenScore(*word, -self._mean_of(word.word, ratio_of)) for word in word_positions(text)]
            )
        return scored

    def _mean_of(self, word: str, ratio_of: Mapping[str, float]) -> float:
        """Return the evidence of a word; with `characters`, the mean over its n-grams."""
        if self.characters is None:
            return ratio_of.get(word, 0.0)
        return fmean(ratio_of.get(part, 0.0) for part in parts_of(word, self.characters))
