"""CVDD: a document of the inlier class is near to context vectors (Ruff et al., ACL 2019).

Several attention heads sum up the word vectors of a document; each head learns another theme. A document
is abnormal if its sums point away from the context vectors of the heads. Word vectors are frozen; attention
and contexts are learned together.

Differences from the paper (P), its released code (C) or both:

- The vocabulary comes from the training documents: a word that occurs there fewer than `min_count` times,
  or has no vector, is left out of every document. C also uses the words of the test documents.
  ``min_count=0`` keeps every word with a vector, independently of the training documents.
- In C, a word without a vector is a zero vector, like a pad. It takes attention, but does not change the
  direction of a sum, and a distance depends only on the direction. So leaving the word out changes nothing.
- A document without a known word has a distance of 1/2 from every context, like its zero sum in C. Training
  leaves it out.
- alpha is 0 in the first fifth of the epochs and never reaches its last value, 1, as in C. There is only the
  logarithmic schedule, as in P.
- Batches have documents of similar length, and the last batch of an epoch may be smaller.
- A stage of alpha and learning rate ends early when the loss has settled (`tolerance`; 0 for never).
- By default, word vectors are 50-dimensional GloVe; P uses 300 dimensions.

References
----------
L. Ruff, Y. Zemlyanskiy, R. Vandermeulen, T. Schnake, M. Kloft: Self-Attentive, Multi-Context One-Class
Classification for Unsupervised Anomaly Detection on Text. ACL 2019.

J. Pennington, R. Socher, C. D. Manning: GloVe: Global Vectors for Word Representation. EMNLP 2014.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, Self, Unpack, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import roc_auc_score
from torch import Tensor

from adbench_text.checks import Choice, Number, Range, Whole, seed_or_draw
from adbench_text.contract.detector import SharedParams, TextDetector, TokenScore
from adbench_text.contract.scores import WORDS
from adbench_text.detectors._devices import (
    DEVICE,
    describe,
    device_to_load_on,
    find_device,
    load_weights,
    weights_of,
)
from adbench_text.detectors.cvdd.contexts import Bags, ContextNetwork, Training, phases, train
from adbench_text.detectors.cvdd.scoring import context_distances, word_shares
from adbench_text.devices import Device
from adbench_text.errors import InvalidValueError
from adbench_text.one_thread import one_thread
from adbench_text.text import vectors
from adbench_text.text.languages import LANGUAGE_TAG, check_language
from adbench_text.text.vocabulary import Vocabulary
from adbench_text.text.words import count_words, word_positions

ScoreName = Literal["context_mean", "context_best"]
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
MEAN, BEST = SCORES


class CVDD(TextDetector):
    """CVDD; see the head of the module.

    The preset ``paper-grid`` is the grid of the paper (section 5.1): 3, 5 and 10 heads, with orthogonality
    weights of 1 and 10.

    Parameters
    ----------
    attention_heads : int, default 5
        Number of heads, which have a context vector each; at least as many training documents must have a
        known word.
    orthogonality_weight : float, default 10
        Weight of the penalty on similar contexts (lambda), at least 0.
    score : {"context_mean", "context_best"}, default "context_mean"
        Mean distance over the heads, or the distance of the head with the best AUROC on the test labels. The
        latter is an oracle that reproduces published columns; only the benchmark can compute it, and marks
        it.
    vectors : str, default "glove-wiki-gigaword-50"
        Word vectors: a name that ``adbench-text list vectors`` shows, or a path.
    min_count : int, default 3
        How often a known word must occur in the training documents; 0 for every word with a vector.
    epochs, batch_size : int, default 100 and 64
        Passes over the training documents, and documents in a batch. With 0 epochs the contexts remain the
        centres of k-means, and the attention remains random.
    learning_rate : float, default 0.01
        Learning rate of Adam; a tenth after two fifths of the epochs. Gradients are clipped to norm 0.5.
    tolerance : float, default 0.001
        A stage of the training (equal alpha and learning rate) ends early unless the mean loss of the
        last five epochs is lower than of the five before by more than this share; 0 for never.
    device : {"auto", "cpu", "cuda"}, default "auto"
        ``auto`` takes a GPU if there is one.
    language : str, default "en"
        Code of the language of the documents. Their words are looked up in `vectors` in its spelling.
    contamination, random_state
        See `TextDetector`. The same seed and device give the same scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from adbench_text.testing.topics import texts_about, write_vectors
    >>> vectors = write_vectors(pathlib.Path(tempfile.mkdtemp()) / "mine.vec")
    >>> detector = CVDD(attention_heads=2, vectors=vectors, epochs=10, random_state=0)
    >>> detector = detector.fit(texts_about("sea", 30, seed=0))
    >>> near, far = detector.decision_function(["the ship and its crew", "court and witness"])
    >>> bool(far > near)
    True
    """

    ranges: ClassVar[Mapping[str, Range]] = {
        "attention_heads": Whole(1),
        "orthogonality_weight": Number("[0, inf)"),
        "score": Choice(SCORES),
        "vectors": vectors.VECTORS,
        "min_count": Whole(0),
        "epochs": Whole(0),
        "batch_size": Whole(1),
        "learning_rate": Number("[0, inf)"),
        "tolerance": Number("[0, inf)"),
        "device": DEVICE,
        "language": Choice((), check_language, LANGUAGE_TAG),
    }
    takes_language: ClassVar[bool] = True
    trusted_types = frozenset[str]()
    not_saved: ClassVar[frozenset[str]] = frozenset({"_device"})
    test_settings: ClassVar[Mapping[str, Any]] = {"epochs": 20}

    def __init__(
        self,
        *,
        attention_heads: int = 5,
        orthogonality_weight: float = 10.0,
        score: ScoreName = MEAN,
        vectors: str = "glove-wiki-gigaword-50",
        min_count: int = 3,
        epochs: int = 100,
        batch_size: int = 64,
        learning_rate: float = 0.01,
        tolerance: float = 1e-3,
        device: Device = "auto",
        language: str = "en",
        **shared: Unpack[SharedParams],
    ) -> None:
        super().__init__(**shared)
        self.attention_heads = attention_heads
        self.orthogonality_weight = orthogonality_weight
        self.score = score
        self.vectors = vectors
        self.min_count = min_count
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.tolerance = tolerance
        self.device = device
        self.language = language

    @classmethod
    def presets(cls, dataset: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return ``paper-grid``: the heads and orthogonality weights of the paper."""
        grid = product((3, 5, 10), (1, 10))
        return {"paper-grid": [{"attention_heads": r, "orthogonality_weight": weight} for r, weight in grid]}

    @classmethod
    def for_documents(
        cls, language: str, settings: Mapping[str, Any], *, normal: bool = False
    ) -> tuple[str, Mapping[str, Any]]:
        """Return the defaults with English word vectors; for another language the user must give vectors."""
        if language != "en" and "vectors" not in settings:
            raise InvalidValueError(
                f"The default word vectors of this detector are English, and the language is {language!r}. "
                "Give others (--set vectors=FILE), or another --detector."
            )
        return "default", {} if language == "en" else {"language": language}

    def prepare(self, texts: Sequence[str]) -> None:
        """Read the file of word vectors."""
        vectors.load(self.vectors)

    def resources(self) -> dict[str, str]:
        """Return the digest of the file of word vectors."""
        return {"vectors": vectors.digest(self.vectors)}

    @property
    def regime(self) -> str:
        """Knowledge besides the training documents."""
        return WORDS

    @property
    def is_oracle(self) -> bool:
        """Whether the test labels choose the scores."""
        return self.score == BEST

    def _fit(self, texts: list[str]) -> None:
        self._seed = seed_or_draw(self.random_state)
        self._device = find_device(self.device)
        self.ran_on_ = {"device": describe(self._device), "precision": "float32"}
        counts, vocabulary = count_words(texts)
        often = np.asarray(counts.sum(axis=0)).ravel() >= self.min_count
        # None: every word with a vector counts.
        self._known = Vocabulary(sorted(vocabulary[often])) if self.min_count else None
        bags = self._bags(texts)
        # A document without a known word has no direction, so its distance of 1/2 has no gradient.
        rows = np.flatnonzero(bags.lengths)
        if len(rows) < self.attention_heads:
            raise InvalidValueError(
                f"attention_heads={self.attention_heads} needs as many training texts with a known word, "
                f"got {len(rows)}; lower it, or min_count={self.min_count}."
            )
        # Drawn on the CPU and then moved, so that a seed gives the same start on every device.
        random = torch.Generator().manual_seed(self._seed)
        contexts = _centres(bags.means(rows), self.attention_heads, self._seed)
        self._network = ContextNetwork(contexts, random).to(self._device)
        training = Training(
            phases(self.epochs, self.learning_rate),
            self.batch_size,
            self.orthogonality_weight,
            self.tolerance,
            self._seed,
        )
        train(self._network, bags, rows, training, self.observer)

    def learned(self) -> dict[str, Any]:
        """Return the learned attributes, with the weights of the network."""
        return {**super().learned(), "_network": weights_of(self._network)}

    def restore(self, learned: Mapping[str, Any]) -> Self:
        """Set the attributes that `learned` returned."""
        super().restore(learned)
        self._device = device_to_load_on(self.device)
        # built as in a fit; then all weights are replaced
        contexts = torch.zeros(learned["_network"]["contexts"].shape)
        self._network = ContextNetwork(contexts, torch.Generator()).to(self._device)
        load_weights(self._network, learned["_network"])
        return self

    def _bags(self, texts: list[str]) -> Bags:
        counts, vocabulary = count_words(texts)
        loaded = vectors.load(self.vectors)
        rows = loaded.rows(vocabulary, self.language)
        known = rows >= 0
        if self._known is not None:
            known &= self._known.numbers(vocabulary) >= 0
        kept = np.flatnonzero(known)
        return Bags(counts[:, kept], vocabulary[kept], loaded.matrix[rows[kept]], self._device)

    def _score(self, texts: list[str]) -> NDArray[np.float64]:
        if self.is_oracle:
            raise InvalidValueError(
                f"score={BEST!r} picks a head by test labels, which only the benchmark has; use {MEAN!r}."
            )
        mean: NDArray[np.float64] = self._distances(texts).mean(axis=1)
        return mean

    def oracle_scores(self, texts: Sequence[str], outlier: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the distances from the context with the best AUROC on the test labels."""
        distances = self._distances(self._check_fitted(texts))
        return max(distances.T, key=lambda of_head: float(roc_auc_score(outlier, of_head)))

    def _distances(self, texts: list[str]) -> NDArray[np.float64]:
        """Return the distance of each document from each context, (n_texts, R)."""
        return context_distances(self._network, self._bags(texts))

    def token_scores(self, texts: Sequence[str]) -> list[list[TokenScore]]:
        """Return the share of each word in the distance of its document, times the number of words.

        The mean of these scores is the document's mean distance over the heads. A word has a high score if
        heads attend to it and it points away from their contexts. A word has a negative score if it points
        further to the contexts than the complete document. An unknown word has 0, or 1/2 if the document has
        no known word.
        """
        texts = self._check_fitted(texts)
        shares = word_shares(self._network, self._bags(texts))
        return [_word_scores(*pair) for pair in zip(texts, shares, strict=True)]


def _centres(means: NDArray[np.float64], n: int, seed: int) -> Tensor:
    """Return the unit centres of `n` clusters of document vectors of length 1 (k-means)."""
    with one_thread():  # several threads would add numbers in a random order
        centres = KMeans(n, n_init=10, random_state=seed).fit(means).cluster_centers_
    # Means of unit vectors are shorter than 1. A distance depends only on directions, and with length 1 the
    # penalty on contexts that are not orthonormal starts low. An empty centre is not divided by 0.
    length = np.linalg.norm(centres, axis=1, keepdims=True)
    return torch.from_numpy((centres / np.maximum(length, 1e-8)).astype(np.float32))


def _word_scores(text: str, shares: Mapping[str, float]) -> list[TokenScore]:
    """Return the score of each word of a document from the shares of its known words."""
    words = list(word_positions(text))
    # A document without a known word has a distance of 1/2, and all its words have an equal share.
    unknown = 0.0 if shares else 0.5 / max(len(words), 1)
    return [TokenScore(*word, len(words) * shares.get(word.word, unknown)) for word in words]
