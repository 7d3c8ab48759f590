"""Encoders turn texts into document vectors. Each is a small class; `METHODS` lists them.

To add an encoder, edit only this file: write a subclass of `Encoder`, and add a line to `METHODS`.

Inverse document frequencies and the SVD are fitted on the training documents only. A fitted encoder and its
vectors are remembered, so that all detectors and configurations of one split share them.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from adbench_text import own_file
from adbench_text.checks import check_choice
from adbench_text.code_version import releases
from adbench_text.devices import Device
from adbench_text.errors import InvalidValueError
from adbench_text.memo import remember
from adbench_text.one_thread import one_thread
from adbench_text.text import pretrained, vectors
from adbench_text.text.pretrained import EncoderPrecision
from adbench_text.text.vocabulary import Vocabulary
from adbench_text.text.words import count_words

Matrix = NDArray[np.float32]
#: The resource that lists the libraries of a pre-trained encoder; a saved model works with other releases.
LIBRARIES = "encoder.libraries"


@dataclass(frozen=True)
class Encoding:
    """The hyper-parameters of an encoder; see `adbench_text.contract.vector_detector.VectorDetector`."""

    method: str  # the name of the encoder, see `find_method`
    vectors: str
    normalize: bool
    svd_components: int
    seed: int
    max_pieces: int | None = None
    device: Device = "auto"
    precision: EncoderPrecision = "fp32"
    language: str = "en"  # of the documents: their words are looked up in `vectors` in its spelling

    def encoder(self) -> "Encoder":
        """Return an unfitted encoder."""
        return find_method(self.method)(self)


class Encoder(ABC):
    """Turns texts into vectors after it was fitted on training texts; get one from `fit_encoder`.

    A call with documents returns their vectors, float32 of shape (n_texts, n_dimensions). A document
    without a known word gets the zero vector.
    """

    description: ClassVar[str]  # for the help of the command line
    needs_vectors: ClassVar[bool] = True  # whether it needs word vectors
    is_pretrained: ClassVar[bool] = False
    learns: ClassVar[bool] = False  # whether it learns from the training documents

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding

    def prepare(self, texts: Sequence[str]) -> None:  # noqa: B027  # a subclass need not define it
        """Look up resources that are not learned, for all documents of a corpus; by default nothing."""

    def resources(self) -> dict[str, str]:
        """Return the digests of the files that decide the vectors, by name; by default empty."""
        return {}

    def _fit(self, training: tuple[str, ...]) -> None:  # noqa: B027
        """Fit on the training documents."""

    @abstractmethod
    def _encode(self, texts: tuple[str, ...]) -> NDArray[Any]:
        """Return vectors of shape (n_texts, n_dimensions), zeros for a document without a known word."""

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Encode documents."""
        return _encode((self, tuple(texts)))


def _weighted_mean(weights: Any, word_vectors: Matrix) -> NDArray[Any]:
    """Return the weighted mean of the word vectors of each document.

    The weights are sparse, of shape (n_texts, n_words).
    """
    total = np.asarray(weights.sum(axis=1)).reshape(-1, 1)
    return cast(NDArray[Any], (weights @ word_vectors) / np.where(total > 0, total, 1))


class Mean(Encoder):
    """The mean of the word vectors; a word counts as often as it occurs in the document."""

    description = "mean of the word vectors"

    def prepare(self, texts: Sequence[str]) -> None:
        """Read the file of word vectors."""
        vectors.load(self.encoding.vectors)

    def resources(self) -> dict[str, str]:
        """Return the digest of the file of word vectors."""
        return {"vectors": vectors.digest(self.encoding.vectors)}

    def _encode(self, texts: tuple[str, ...]) -> NDArray[Any]:
        counts, vocabulary = count_words(texts)
        loaded = vectors.load(self.encoding.vectors)
        rows = loaded.rows(vocabulary, self.encoding.language)
        kept = np.flatnonzero(rows >= 0)
        weights = self._weights(counts[:, kept].astype(np.float64), vocabulary[kept])
        return _weighted_mean(weights, loaded.matrix[rows[kept]])

    def _weights(self, counts: Any, words: NDArray[Any]) -> Any:
        """Return the weights of words in documents, given their counts: both sparse, (n_texts, n_words)."""
        return counts


class TFIDF(Mean):
    """The mean of the word vectors, weighted by TF-IDF.

    The inverse document frequencies come from the training documents, and are smoothed as in scikit-learn.
    """

    description = "mean of the word vectors, weighted by TF-IDF"
    learns = True

    def _fit(self, training: tuple[str, ...]) -> None:
        self._n_training = len(training)
        counts, vocabulary = count_words(training)
        frequency = np.diff(counts.tocsc().indptr)
        order = np.argsort(vocabulary)  # the order of the training documents must not matter
        self._vocabulary = Vocabulary(vocabulary[order])
        of_unseen = self._smooth_idf(np.zeros(1))  # last, because an unseen word has the number -1
        self._idf = np.append(self._smooth_idf(frequency[order]), of_unseen)

    def _smooth_idf(self, frequency: NDArray[Any]) -> NDArray[np.float64]:
        return np.log((1 + self._n_training) / (1 + frequency)) + 1

    def _weights(self, counts: Any, words: NDArray[Any]) -> Any:
        idf = self._idf[self._vocabulary.numbers(words)]
        return counts.multiply(idf.reshape(1, -1)).tocsr()


class SVD(Encoder):
    """TF-IDF and a truncated SVD, both fitted on the training documents."""

    description = "TF-IDF of the words, reduced by truncated SVD; needs no word vectors"
    needs_vectors = False
    learns = True

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding)
        # imported here, because the help of the command line reads `METHODS` without scikit-learn
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer

        self._tfidf = TfidfTransformer(sublinear_tf=True)
        self._reduction = TruncatedSVD(random_state=encoding.seed)

    def _fit(self, training: tuple[str, ...]) -> None:
        from scipy.sparse import csr_array

        counts, words = count_words(training)
        if not len(words):
            raise InvalidValueError("the encoder svd needs training texts with at least one word.")
        self._vocabulary = Vocabulary(sorted(words))
        # not sorted, as in scikit-learn's TfidfVectorizer: the last bit of a sum depends on the order
        entries = (
            counts.data.astype(np.float32),
            self._vocabulary.numbers(words)[counts.indices],
            counts.indptr,
        )
        weights = self._tfidf.fit_transform(csr_array(entries, shape=counts.shape))
        self._reduction.n_components = min(self.encoding.svd_components, *weights.shape)
        with one_thread():  # more threads change the last bits, and with them the cuts of trees
            self._reduction.fit(weights)

    def _encode(self, texts: tuple[str, ...]) -> NDArray[Any]:
        counts = self._vocabulary.count(texts).astype(np.float32)
        return cast(Matrix, self._reduction.transform(self._tfidf.transform(counts)))


class Pretrained(Encoder):
    """A model of sentence-transformers or model2vec, or a function in a file; it does not learn.

    The mean of the vectors is the direction of the inlier class. It is not removed: on `pydocs` that costs
    6 to 21 points of AUROC (mean over the classes; 0 and 10 % of contamination; `pyod-knn` and `ocsvm`).
    """

    description = "any model of sentence-transformers or model2vec, or a function in a file (./FILE.py:NAME)"
    needs_vectors = False
    is_pretrained = True

    @property
    def _model(self) -> pretrained.PretrainedModel:
        encoding = self.encoding
        return pretrained.locate(encoding.method, encoding.max_pieces, encoding.device, encoding.precision)

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode a complete corpus, and keep the vectors on disk."""
        own_file.named(self.encoding.method)
        self._model.prepare(texts)

    def resources(self) -> dict[str, str]:
        """Return the identity of the model with its settings, and the libraries that compute with it."""
        model = self._model
        return {"encoder": model.identity, LIBRARIES: model.libraries}

    def _encode(self, texts: tuple[str, ...]) -> NDArray[Any]:
        return self._model.look_up(texts)


class WordLlama(Encoder):
    """Token vectors of LLaMA 2 70B, no network at run time: the mean over the tokens of a document.

    Miller (WordLlama, 2024) concatenated the token embeddings of LLaMA 2 70B, phi-3 medium and other models
    that share the tokens, and trained a projection to 256 dimensions for sentence similarity. The encoder
    reads the lower-case words of a document. A word has the same tokens everywhere, so it is cut once.
    """

    description = "token vectors of LLaMA 2 70B, no network at run time; from the package wordllama"
    needs_vectors = False
    is_pretrained = True

    def prepare(self, texts: Sequence[str]) -> None:
        """Read the vectors."""
        pretrained.word_pieces()

    def resources(self) -> dict[str, str]:
        """Return the digest of the verified files, and the library that cuts words."""
        pretrained.WORDLLAMA.locate("The encoder 'wordllama'")
        return {"encoder": pretrained.WORDLLAMA.digest, LIBRARIES: releases("tokenizers")}

    def _encode(self, texts: tuple[str, ...]) -> NDArray[Any]:
        from scipy.sparse import csr_array

        counts, vocabulary = count_words(texts)
        matrix, cut = pretrained.word_pieces()
        pieces_of = [cut(word) for word in vocabulary]  # words of `count_words` have no lone surrogates
        ends = np.cumsum([0, *map(len, pieces_of)])
        numbers = np.fromiter(chain.from_iterable(pieces_of), np.int64, count=ends[-1])
        ones = np.ones(len(numbers), dtype=np.float32)
        pieces = counts.astype(np.float32) @ csr_array(
            (ones, numbers, ends), shape=(len(vocabulary), len(matrix))
        )
        pieces.sort_indices()  # the order depends on the other texts, and changes the last bit of a sum
        total = np.asarray(pieces.sum(axis=1)).reshape(-1, 1)
        mean = (pieces @ matrix) / np.where(total > 0, total, 1)
        return cast(NDArray[Any], mean)


class MiniLM(Pretrained):
    """The sentence encoder of Reimers and Gurevych (EMNLP 2019), distilled by Wang et al. (NeurIPS 2020)."""

    description = "sentence encoder MiniLM, a pre-trained network; from an installed package"


METHODS: dict[str, type[Encoder]] = {
    "mean": Mean,
    "tfidf": TFIDF,
    "svd": SVD,
    "wordllama": WordLlama,
    "minilm": MiniLM,
}


def find_method(name: Any) -> type[Encoder]:
    """Return the class of the encoder that a user names: by its name in `METHODS`, or `Pretrained`.

    `Pretrained` stands for a function in a file (``./mine.py:embed``), a model in a folder, and a model of a
    library (``model2vec:NAME``). Raise UnknownNameError for any other value.
    """
    if isinstance(name, str) and name not in METHODS:
        is_model = any(sign in name for sign in ("/", os.sep, ":"))  # a folder, or a library and a name
        if is_model or own_file.WRITTEN.fullmatch(name):  # written like mine.py:embed
            return Pretrained
    check_choice("encoder", name, METHODS)
    return METHODS[name]


def fit_encoder(encoding: Encoding, training: Sequence[str]) -> Encoder:
    """Return an encoder fitted on training documents; the last few are kept and shared."""
    # the user wrote this path, so its code may run; a saved model, which may come from others, is not fitted
    own_file.named(encoding.method)
    return _fit_encoder((encoding, tuple(training)))


@remember(8)
def _fit_encoder(key: tuple[Encoding, tuple[str, ...]]) -> Encoder:
    encoding, training = key
    encoder = encoding.encoder()
    encoder._fit(training)
    return encoder


# of training and test documents; a value of an encoder itself would be pickled with it
@remember(16, of_documents=True)
def _encode(key: tuple[Encoder, tuple[str, ...]]) -> Matrix:
    encoder, texts = key
    encoded = encoder._encode(texts)
    if encoder.encoding.normalize:
        length = np.linalg.norm(encoded, axis=1, keepdims=True)
        encoded = encoded / np.where(length > 0, length, 1)
    encoded = encoded.astype(np.float32)
    encoded.flags.writeable = False  # detectors share it
    return encoded
