"""Vectors from a server that answers OpenAI's embeddings protocol, such as vLLM, Ollama or a paid service.

Its URL and the key come from the environment, so that worker processes have them. Neither identifies a
result: servers move. The model behind a name may change, so that its digest is a sketch of the vectors of
some texts. Digests are compared with a tolerance: batches and threads change the last digits of vectors.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adbench_text import storage
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.escaping import one_line, without_password
from adbench_text.failures import message_of
from adbench_text.text.words import in_blocks

URL, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"  # environment variables

TIMEOUT = 120.0  # seconds to wait for an answer
BACKOFF = 1.0  # seconds; doubled before each repetition of a request
_MOST_TEXTS = 32  # of a request: text-embeddings-inference refuses more by default
_MOST_CHARACTERS = 100_000  # of a request, before its last text

_PROBES = [
    "The committee approved the annual budget after a long debate.",
    "Der Zug nach Hamburg fährt heute eine Stunde später ab.",
    "患者は来週の月曜日に再診の予約をしました。",
    "WIN a free prize now!!! Click http://example.com",
]
_ALIKE = 0.9995  # cosine of sketches; noise of 1 % in the vectors leaves more, 5 % less
_print_once = lru_cache(print)


def announce(model: str, texts: Iterable[str], *, are_all: bool) -> None:
    """Print how many texts leave this machine, and where to; nothing in worker processes."""
    sent = [text for text in texts if text.strip()]
    what = f"{len(sent):,} texts ({sum(map(len, sent)):,} characters)" if are_all else "each further text"
    if sent and multiprocessing.parent_process() is None:
        _print_once(one_line(f"Sending {what} to {_shown()}, model {model}."), file=sys.stderr)


def digest(model: str) -> str:
    """Return the digest of a model; its server is asked for some vectors."""
    url = os.environ.get(URL)
    if storage.is_offline():
        raise DataError(f"The encoder 'openai:{model}' sends texts to a server; run without --offline.")
    if not model or not url:
        needed = f"a server: --encoder-url http://HOST/v1 or {URL}" if model else "a name: openai:NAME"
        raise InvalidValueError(f"The encoder 'openai:{model}' needs {needed}.")
    if not (_key().isascii() and _key().isprintable()):
        raise InvalidValueError(f"{KEY} has a character that no key has, such as a line end; set it again.")
    return _digest(url, model)


@lru_cache(4)
def _digest(url: str, model: str) -> str:
    """Return the digest of a model at a URL: the one of vectors in the cache, if they are alike."""
    vectors = _ask(model, _PROBES).astype(np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    # six numbers for each text, to which all dimensions contribute, without what the texts share
    numbers = (unit - unit.mean(axis=0)) @ np.cos(np.outer(np.arange(unit.shape[1]), range(1, 7)))
    sketch = np.rint(127 * numbers / abs(numbers).max().clip(1e-12)).astype(np.int8)
    new = f"openai-{unit.shape[1]}-{sketch.tobytes().hex()}"
    folders = (storage.cache_dir() / "encodings").glob("openai-*")
    cached = sorted(folder.name.rpartition("-")[0] for folder in folders)
    return next((each for each in cached if is_same(each, new)), new)


def is_same(first: str | None, second: str | None) -> bool:
    """Return whether two digests are equal, or of a server's model whose vectors differ by rounding only."""
    (kind, one), (other_kind, other) = ((each or "").rpartition("-")[::2] for each in (first, second))
    if first == second or kind != other_kind or not kind.startswith("openai-"):
        return first == second
    a, b = (np.frombuffer(bytes.fromhex(sketch), np.int8).astype(np.float64) for sketch in (one, other))
    return bool(a @ b > _ALIKE * np.linalg.norm(a) * np.linalg.norm(b))


def encode(model: str, digest: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts by a model with a digest, of shape (n_texts, n_dimensions)."""
    batches = in_blocks(texts, _MOST_CHARACTERS, _MOST_TEXTS)
    vectors = [vector for batch in batches for vector in _ask(model, batch)]
    if any(not digest.startswith(f"openai-{len(vector)}-") for vector in vectors):
        raise DataError(f"{_shown()} answers with vectors of another length than before; run it again.")
    return np.array(vectors)


def _ask(model: str, texts: list[str]) -> NDArray[np.float32]:
    """Return what the server answers to a request, of shape (n_texts, n_dimensions)."""
    import requests

    def authorize(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {_key()}"
        return request

    try:
        answer = _session().post(
            f"{os.environ[URL].rstrip('/')}/embeddings",
            json={"model": model, "input": texts},
            auth=authorize if _key() else None,
            timeout=(10, TIMEOUT),  # to connect, and to answer
            allow_redirects=False,  # texts go nowhere else
        )
    except requests.RequestException as error:
        reason = _harmless(message_of(getattr(error.args[0], "reason", error)))
        raise DataError(
            f"No answer from {_shown()} ({reason}). Start the server, or give another --encoder-url."
        ) from None  # its own message may hold the user and password of the URL
    if answer.status_code != 200:
        raise DataError(
            f"{_shown()} answers {answer.status_code} to {len(texts)} texts for the model {model!r}, the "
            f"longest of {max(map(len, texts)):,} characters: {_harmless(answer.text)}. Check the model, the "
            f"URL (most end in /v1), {KEY} and how long a text may be."
        )
    return _vectors(answer, len(texts))


@lru_cache(1)
def _session() -> Any:
    """Return what sends requests, and repeats those that fail for a moment."""
    from requests import Session
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    retry = Retry(
        5,
        connect=2,
        other=2,  # such as no server at this place, which is known in seconds
        allowed_methods=None,  # POST as well
        status_forcelist=(429, 500, 502, 503, 504),
        raise_on_status=False,
        backoff_factor=BACKOFF,
        retry_after_max=60,  # a server may ask for hours
    )
    session = Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _vectors(answer: Any, n_texts: int) -> NDArray[np.float32]:
    """Return the vectors of an answer in the order of the texts."""
    with suppress(KeyError, TypeError, ValueError), np.errstate(over="ignore"):
        found = {row["index"]: row["embedding"] for row in answer.json()["data"]}
        matrix = np.array([found.pop(place) for place in range(n_texts)], dtype=np.float32)
        if not found and matrix.ndim == 2 and np.isfinite(matrix).all():
            return matrix
    raise DataError(
        f"{_shown()} does not answer as an embeddings server, with {n_texts} vectors of finite numbers: "
        f"{_harmless(answer.text)}. Check --encoder-url."
    )


def _key() -> str:
    return os.environ.get(KEY, "").strip()


def _shown() -> str:
    """Return the URL without user, password and query."""
    return without_password(os.environ[URL]).partition("?")[0]


def _harmless(text: str) -> str:
    """Return a text of a server or a library in a short line, without the key."""
    return one_line(without_password(text.replace(_key() or "\0", "***")))[:300].rstrip(". ")
