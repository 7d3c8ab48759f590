"""Checkpoints of a training of DATE: where they are, when they are written, and when they are removed."""

import hashlib
import time
import warnings
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from adbench_text import storage
from adbench_text.code_version import code_version
from adbench_text.errors import DataError
from adbench_text.text.words import digest

if TYPE_CHECKING:
    from adbench_text.detectors.date import DATE

_SECONDS = 60.0  # between two checkpoints


def checkpoint_path(detector: "DATE", texts: list[str]) -> Path | None:
    """Return the path of the checkpoint of exactly this training, None if it cannot be repeated."""
    if detector.random_state is None:
        return None
    # `contamination` moves the threshold only, so that it need not match.
    settings = {name: value for name, value in detector.get_params().items() if name != "contamination"}
    kind: Any = type(detector)
    environment = [
        detector.resources(),
        detector.ran_on_,
        torch.__version__,
        version("tokenizers"),
        code_version(kind),
    ]
    key = digest([digest(texts), repr(sorted(settings.items())), repr(environment)])
    return storage.cache_dir() / "checkpoints" / f"date-{key}.safetensors"


class Checkpoint:
    """File from which an interrupted training resumes; with None for its path, nothing is read or written."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._written = time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether the last one was written more than a minute ago."""
        return self._path is not None and time.monotonic() - self._written > _SECONDS

    def read(self, device: torch.device) -> dict[str, Tensor] | None:
        """Return the state in the file, None if there is no file, or (with a warning) if it is damaged."""
        if self._path is None or not storage.is_file(self._path):
            return None
        try:
            with safe_open(self._path, framework="pt", device=str(device)) as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
                written = (file.metadata() or {}).get("digest")
        except (OSError, SafetensorError):
            state, written = {}, None
        if written != _digest_of(self._path, state):
            warnings.warn(f"The training begins anew: its checkpoint {self._path} is damaged.", stacklevel=2)
            return None
        return state

    def write(self, state: dict[str, Tensor]) -> None:
        """Replace the file; after a failure, warn once and write no more."""
        if self._path is None:
            return
        self._written = time.monotonic()
        try:
            with storage.atomic_path(self._path) as temporary:
                # safetensors refuses tensors that are not contiguous.
                state = {name: value.contiguous() for name, value in state.items()}
                save_file(state, temporary, metadata={"digest": _digest_of(self._path, state)})
        except (DataError, SafetensorError) as error:  # a full disk is no reason to end a training
            warnings.warn(f"The training continues without checkpoints: {error}", stacklevel=2)
            self.remove()
            self._path = None

    def remove(self) -> None:
        """Remove the file, if there is one."""
        if self._path is not None:
            with suppress(OSError):  # a finished training is worth more than a tidy folder
                self._path.unlink()


def _digest_of(path: Path, state: dict[str, Tensor]) -> str:
    """Return a digest of tensors and of the training that they belong to, which is in the file's name."""
    digest = hashlib.sha256(path.name.encode())
    for name, value in sorted(state.items()):
        digest.update(f"\0{name} {value.dtype} {tuple(value.shape)} ".encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
