"""Trains DATE: batches, corruption, steps, checkpoints, and what to do when memory runs out."""

import copy
import math
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from adbench_text import storage
from adbench_text.detectors._batches import training_batches
from adbench_text.detectors.date.adamw import FlatAdamW
from adbench_text.detectors.date.electra import Corruption, Losses, Objective, is_real, n_scored
from adbench_text.detectors.date.windows import Windows
from adbench_text.errors import DataError, DetectorError
from adbench_text.memo import credit
from adbench_text.plugins.detector import Observer

_OBSERVED = 50  # steps between two looks at the losses: each look waits for the device
_CHECKPOINT_SECONDS = 60.0


@dataclass(frozen=True)
class Training:
    """How to train.

    Parameters
    ----------
    steps, batch_size : int
    learning_rate, weight_decay : float
    patterns : bool tensor of shape (K, max_length + 2), or None
        Mask patterns, on the device; None masks anew each time.
    mask_share : float
        For the latter: the chance of a token to be masked.
    seed : int
        Of everything random: what is drawn in step t is a function of it and t.
    dtype : torch.dtype
        What the networks compute in.
    """

    steps: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    patterns: Tensor | None
    mask_share: float
    seed: int
    dtype: torch.dtype

    def seed_of(self, step: int) -> int:
        """Return the seed of what is drawn in a step."""
        # SeedSequence mixes its parts: neighbouring steps share nothing, unlike seed + step.
        return int(np.random.SeedSequence([self.seed, step]).generate_state(1)[0])

    def corruption(self, step: int, ids: Tensor, lengths: Tensor) -> Corruption:
        """Draw what is masked in a batch of ids (B, L), and by what it is replaced."""
        device = ids.device
        # A function of seed and step: a resumed training draws what an uninterrupted one would.
        random = torch.Generator(device).manual_seed(self.seed_of(step))
        noise = torch.rand(ids.shape, generator=random, device=device)
        if self.patterns is None:
            pattern = lengths.new_zeros(len(ids))
            masked = torch.rand(ids.shape, generator=random, device=device) < self.mask_share
            # [CLS] is never masked; a pattern is False there by itself.
            masked[:, 0] = False
        else:
            pattern = torch.randint(len(self.patterns), (len(ids),), generator=random, device=device)
            # Positions are absolute: a short window sees the beginning of its pattern.
            masked = self.patterns[pattern, : ids.shape[1]]
        # Pads are never masked, as in the released code.
        return Corruption(masked & is_real(ids, lengths), pattern, noise)


def train(
    objective: Objective,
    windows: Windows,
    training: Training,
    observer: Observer | None = None,
    checkpoint: Path | None = None,
) -> None:
    """Train the networks of an objective on windows; all are on one device.

    Parameters
    ----------
    objective : Objective
        Its weights are what is trained; they are in fp32.
    windows : Windows
    training : Training
    observer : Observer, optional
        Is told how it goes.
    checkpoint : Path, optional
        Where the state is written every minute, to go on from there after an interruption with the
        result of an uninterrupted training; the losses before it are told again, the trace is not.
        Removed at the end.

    Raises
    ------
    DetectorError
        If the loss is no number, or a single window is too large for the memory.
    """
    device = windows.device
    token = objective.discriminator.encoder.embeddings.token
    table = token.weight if token.sparse else None
    working = objective
    if training.dtype != torch.float32:
        # The memo makes the copy share the sparse table: it is large, and its rows are updated one by one.
        working = copy.deepcopy(objective, {id(table): table})
    optimizer = FlatAdamW(
        objective,
        working,
        table,
        training.dtype,
        training.steps,
        training.learning_rate,
        training.weight_decay,
    )
    embeddings = working.discriminator.encoder.embeddings
    # Most rows of the table lag behind (see LazyRows); those of a batch are brought up to date just
    # before they are read, whoever reads them: discriminator or generator.
    reading = embeddings.token.register_forward_pre_hook(lambda _, ids: optimizer.read(ids[0]))
    # On the device: adding up the losses does not wait for it.
    so_far = _SoFar(torch.zeros(len(Losses._fields), device=device))
    if observer is not None:
        with optimizer.whole():
            observer.begin()
    saved = time.monotonic()
    if checkpoint is not None and (state := _read(checkpoint, device)) is not None:
        optimizer.load(state)
        so_far.load(state)
        # A resumed training has the curves of an uninterrupted one.
        for values in so_far.told:
            _tell(observer, objective, training.steps, values)
    batches = training_batches(windows.lengths, training.batch_size, training.seed)
    # Batches depend on the seed alone, so that those already done can be skipped.
    batches = islice(batches, so_far.done, None)
    try:
        # Dropout draws from the global generators; the fork leaves the state of the caller as it was.
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            for step in range(so_far.done + 1, training.steps + 1):
                working.train()  # an observer that scores has put it in evaluation mode
                ids, lengths = windows.batch(next(batches))
                corruption = training.corruption(step, ids, lengths)
                # Not the seed of the corruption: dropout must not repeat its random numbers.
                seed = training.seed_of(step) + 1  # of dropout
                batch = ids, lengths, *corruption
                losses, so_far.parts = _backward(working, optimizer, batch, so_far.parts, seed)
                optimizer.step()
                so_far.add(step, losses)
                # After the update: an observer or a checkpoint sees the weights that this step leads to.
                if step % _OBSERVED == 0 or step == training.steps:
                    _tell(observer, objective, training.steps, so_far.tell())
                if observer is not None and observer.trace_every and step % observer.trace_every == 0:
                    with optimizer.whole():
                        observer.trace(step)
                if checkpoint is not None and time.monotonic() - saved > _CHECKPOINT_SECONDS:
                    saved = time.monotonic()
                    state = optimizer.state() | so_far.state()
                    checkpoint = checkpoint if _write(checkpoint, state) else None
    finally:
        # The hook holds the optimizer, which must not be pickled with the network.
        reading.remove()
    optimizer.finish()
    objective.eval()
    if checkpoint is not None:
        _remove(checkpoint)


class _SoFar:
    """Where a training stands, but for its weights."""

    def __init__(self, sums: Tensor) -> None:
        self.sums = sums  # of the losses since they were last told
        self.told: list[list[float]] = []  # step and mean losses
        self.done, self.parts = 0, 1
        self._begin = time.monotonic()

    def add(self, step: int, losses: Losses) -> None:
        """Count a step."""
        self.sums += torch.stack(losses)
        self.done = step

    def tell(self) -> list[float]:
        """Return the step and the mean losses since the last time."""
        # Steps since the last report: 50, or fewer at the end.
        self.told.append([self.done, *(self.sums / ((self.done - 1) % _OBSERVED + 1)).tolist()])
        self.sums.zero_()
        return self.told[-1]

    def state(self) -> dict[str, Tensor]:
        """Return what `load` needs, by name."""
        seconds = time.monotonic() - self._begin
        numbers = torch.tensor([self.done, self.parts, seconds], dtype=torch.float64)
        return {"sums": self.sums, "told": torch.tensor(self.told, dtype=torch.float64), "numbers": numbers}

    def load(self, state: dict[str, Tensor]) -> None:
        """Go on from a `state`; its seconds count as work of this process."""
        done, parts, seconds = state["numbers"].tolist()
        self.sums, self.told = state["sums"], state["told"].tolist()
        self.done, self.parts = int(done), int(parts)
        credit(seconds)
        self._begin -= seconds


def _backward(
    working: Objective, optimizer: FlatAdamW, batch: tuple[Tensor, ...], parts: int, seed: int
) -> tuple[Losses, int]:
    """Put the gradients of a batch's losses in place, in as many parts as the memory asks for.

    The sum is that of the whole batch, but for dropout, which each part draws for itself.
    """
    ids, lengths, masked, *_ = batch
    counts = n_scored(ids, lengths, masked)
    while True:
        # In the loop: a second attempt drops the same activations as the first.
        torch.manual_seed(seed)
        try:
            total = [torch.zeros((), device=ids.device)] * len(Losses._fields)
            for part in zip(*(tensor.chunk(parts) for tensor in batch), strict=True):
                losses = working(part[0], part[1], Corruption(*part[2:]), counts)
                # Gradients of parts add up, and the graph of each part is freed before the next one.
                losses.total.backward()
                total = [a + b.detach() for a, b in zip(total, losses, strict=True)]
            return Losses(*total), parts
        except torch.OutOfMemoryError as error:
            optimizer.forget()
            if parts >= len(ids):
                raise DetectorError(
                    f"The memory of {ids.device} does not hold one window of {ids.shape[1]} tokens; "
                    "lower max_length or use --device cpu."
                ) from error
            # Kept for all later steps, which would fail in the same way.
            parts *= 2
        # After the handler: as long as the error lives, so do the tensors of the frames in its traceback.
        torch.cuda.empty_cache()
        warnings.warn(
            f"The memory of {ids.device} does not hold a batch of {len(ids)} windows: "
            f"its gradient is now summed over {parts} parts.",
            stacklevel=2,
        )


def _tell(observer: Observer | None, objective: Objective, steps: int, told: list[float]) -> None:
    step, values = int(told[0]), dict(zip(Losses._fields, told[1:], strict=True))
    if not math.isfinite(values["total"]):
        raise DetectorError(f"The loss is {values['total']} at step {step}; lower learning_rate.")
    if observer is not None:
        observer.losses(step, steps, {f"loss_{name}": values[name] for name in objective.learned})


def _write(path: Path, state: dict[str, Tensor]) -> bool:
    try:
        with storage.atomic_path(path) as temporary:
            # safetensors refuses tensors that are not contiguous.
            save_file({name: value.contiguous() for name, value in state.items()}, temporary)
    except (DataError, SafetensorError) as error:  # a full disk is no reason to end a training
        warnings.warn(f"The training goes on without checkpoints: {error}", stacklevel=2)
        _remove(path)
        return False
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):  # a finished training is worth more than a tidy folder
        path.unlink()


def _read(path: Path, device: torch.device) -> dict[str, Tensor] | None:
    try:
        return load_file(path, device=str(device))
    except (OSError, SafetensorError):  # none there, or a damaged one: begin anew
        return None
