"""Downloads that end: at a size, and when too little arrives."""

import sys
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

_SECONDS = 60.0  # between two looks at what has arrived
_LEAST_BYTES = 60_000  # in this time
_TIMEOUT = 30.0  # seconds without any byte, to connect and to read
_CHUNK = 8192  # bytes


class Download:
    """Downloads a file for pooch.

    Parameters
    ----------
    most_bytes : int
        A larger file is refused.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._n_bytes = 0
        self._is_over = False

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Download to a path.

        Raises
        ------
        OSError
            If the server cannot be reached, or too little arrives.
        ValueError
            If the file is too large.
        """
        outcome: SimpleQueue[Exception | None] = SimpleQueue()
        # a thread: a server that sends single bytes is never silent long enough for a timeout
        Thread(target=self._fetch, args=(url, Path(output_file), outcome), daemon=True).start()
        try:
            before = 0
            while True:
                try:
                    error = outcome.get(timeout=_SECONDS)
                except Empty:
                    if self._n_bytes - before < _LEAST_BYTES:
                        reason = f"fewer than {_LEAST_BYTES:,} bytes came in {_SECONDS:g} s"
                        raise TimeoutError(reason) from None
                    before = self._n_bytes
                    continue
                if error is not None:
                    raise error
                return
        finally:
            self._is_over = True  # the thread ends, also after Ctrl-C

    def _fetch(self, url: str, path: Path, outcome: "SimpleQueue[Exception | None]") -> None:
        try:
            self._write(url, path)
            outcome.put(None)
        except Exception as error:  # raised again where it was asked for
            outcome.put(error)

    def _write(self, url: str, path: Path) -> None:
        import requests
        from tqdm import tqdm

        with requests.get(url, timeout=_TIMEOUT, stream=True) as answer, path.open("wb") as file:
            answer.raise_for_status()
            length = int(answer.headers.get("Content-Length", 0))
            self._check(length)
            with tqdm(
                total=length, unit="B", unit_scale=True, ncols=79, disable=not sys.stderr.isatty()
            ) as progress:
                for chunk in answer.iter_content(_CHUNK):
                    if self._is_over:
                        return
                    self._n_bytes += len(chunk)
                    self._check(self._n_bytes)
                    file.write(chunk)
                    progress.update(len(chunk))

    def _check(self, n_bytes: int) -> None:
        if n_bytes > self._most_bytes:
            raise ValueError(f"it is larger than {self._most_bytes / 1e6:,.0f} MB")
