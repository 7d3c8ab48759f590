"""Trains DATE: batches, corruption, steps, and smaller parts of a batch when memory runs out."""

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import AdamW

from adbench_text.detectors._batches import training_batches
from adbench_text.detectors.date.checkpoints import Checkpoint
from adbench_text.detectors.date.electra import Corruption, Losses, Objective, is_real, n_scored
from adbench_text.detectors.date.windows import Windows
from adbench_text.errors import DetectorError
from adbench_text.memo import credit
from adbench_text.plugins.detector import Observer

BETAS, EPS, MAX_NORM = (0.9, 0.999), 1e-8, 1.0
_MOMENTS = "step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"
_REPORT_EVERY = 50  # steps between two reports of the losses: each waits for the device


@dataclass(frozen=True)
class Training:
    """Settings of a training."""

    steps: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    patterns: Tensor | None  # of masks, (K, max_length + 2), on the device; None draws masks for each batch
    mask_share: float  # for the latter: the chance of a token to be masked
    seed: int  # what is drawn in step t is a function of it and t
    dtype: torch.dtype  # what the networks compute in
    embedding_learning_rate: float | None = None  # of the token embeddings, if it is not `learning_rate`

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
    """Train the networks of an objective on windows; resume at the file `checkpoint` if it is there."""
    optimizer = adamw(objective, training)
    progress = _Progress(windows.device)
    if observer is not None:
        observer.begin()
    file = Checkpoint(checkpoint)
    if (state := file.read(windows.device)) is not None:
        _restore(objective, optimizer, state)
        progress.load(state)
        # A resumed training has the curves of an uninterrupted one.
        for means in progress.reported:
            _report(observer, objective, training.steps, means)
    # Dropout draws from the global generators; the fork leaves the state of the caller as it was.
    with torch.random.fork_rng([windows.device] if windows.device.type == "cuda" else []):
        for step in _steps(objective, optimizer, windows, training, progress):
            if step % _REPORT_EVERY == 0 or step == training.steps:
                _report(observer, objective, training.steps, progress.take_means())
            if observer is not None and observer.trace_every and step % observer.trace_every == 0:
                observer.trace(step)
            if file.is_due:
                file.write(_state(objective, optimizer) | progress.state())
    objective.eval()
    file.remove()


def adamw(objective: Objective, training: Training) -> AdamW:
    """Return AdamW with AMSGrad (Loshchilov and Hutter, 2019; Reddi et al., 2018) for all weights."""
    token = objective.discriminator.encoder.embeddings.token.weight
    token_rate = training.embedding_learning_rate or training.learning_rate
    others = [p for p in objective.parameters() if p is not token]
    groups: list[dict[str, Any]] = [{"params": [token], "lr": token_rate}, {"params": others}]
    return AdamW(groups, training.learning_rate, BETAS, EPS, training.weight_decay, amsgrad=True, fused=True)


def _state(objective: Objective, optimizer: AdamW) -> dict[str, Tensor]:
    """Return the weights and the moments of the optimizer by name."""
    named = dict(objective.named_parameters())
    state = {f"weight.{name}": p.detach() for name, p in named.items()}
    moments = {name: optimizer.state[p] for name, p in named.items() if p in optimizer.state}
    return state | {f"{key}.{name}": value for name, of in moments.items() for key, value in of.items()}


@torch.no_grad()
def _restore(objective: Objective, optimizer: AdamW, state: dict[str, Tensor]) -> None:
    # The moments are set by hand: the optimizer makes them only in its first step.
    for name, p in objective.named_parameters():
        p.copy_(state[f"weight.{name}"])
        moments = {key: state[f"{key}.{name}"] for key in _MOMENTS if f"{key}.{name}" in state}
        if moments:
            optimizer.state[p] = moments


def _steps(
    objective: Objective, optimizer: AdamW, windows: Windows, training: Training, progress: "_Progress"
) -> Iterator[int]:
    """Do the remaining steps; yield the number of each after its update."""
    batches = training_batches(windows.lengths, training.batch_size, training.seed)
    # Batches depend on the seed alone, so that those already done can be skipped.
    batches = islice(batches, progress.done, None)
    for step in range(progress.done + 1, training.steps + 1):
        objective.train()  # an observer that scores has put it in evaluation mode
        ids, lengths = windows.batch(next(batches))
        batch = ids, lengths, *training.corruption(step, ids, lengths)
        # Not the seed of the corruption: dropout must not repeat its random numbers.
        seed = training.seed_of(step) + 1
        losses, progress.parts = _backward(objective, training.dtype, batch, progress.parts, seed)
        torch.nn.utils.clip_grad_norm_(objective.parameters(), MAX_NORM)
        optimizer.step()
        objective.zero_grad()
        progress.add(step, losses)
        yield step


class _Progress:
    """The state of a training, except for its weights."""

    def __init__(self, device: torch.device) -> None:
        # Sums of the losses since the last report; on the device, so that no step waits for it.
        self.sums = torch.zeros(len(Losses._fields), device=device)
        self.reported: list[list[float]] = []  # step and mean losses
        self.done, self.parts = 0, 1
        self._begin = time.monotonic()

    def add(self, step: int, losses: Losses) -> None:
        """Count a step."""
        self.sums += torch.stack(losses)
        self.done = step

    def take_means(self) -> list[float]:
        """Return the step and the mean losses since the last report."""
        # Steps since the last report: 50, or fewer at the end.
        n_steps = (self.done - 1) % _REPORT_EVERY + 1
        self.reported.append([self.done, *(self.sums / n_steps).tolist()])
        self.sums.zero_()
        return self.reported[-1]

    def state(self) -> dict[str, Tensor]:
        """Return what `load` needs, by name."""
        seconds = time.monotonic() - self._begin
        numbers = torch.tensor([self.done, self.parts, seconds], dtype=torch.float64)
        reported = torch.tensor(self.reported, dtype=torch.float64)
        return {"sums": self.sums, "reported": reported, "numbers": numbers}

    def load(self, state: dict[str, Tensor]) -> None:
        """Continue from a `state`; its seconds count as work of this process."""
        done, parts, seconds = state["numbers"].tolist()
        self.sums, self.reported = state["sums"], state["reported"].tolist()
        self.done, self.parts = int(done), int(parts)
        credit(seconds)
        self._begin -= seconds


def _backward(
    objective: Objective, dtype: torch.dtype, batch: tuple[Tensor, ...], parts: int, seed: int
) -> tuple[Losses, int]:
    """Compute the gradients of a batch, in as many parts as the memory needs.

    The sum is that of the complete batch, except for dropout, which each part draws separately.
    """
    ids, lengths, masked, *_ = batch
    counts = n_scored(ids, lengths, masked)
    while True:
        # In the loop: a second attempt drops the same activations as the first.
        torch.manual_seed(seed)
        try:
            total = [torch.zeros((), device=ids.device)] * len(Losses._fields)
            for part in zip(*(tensor.chunk(parts) for tensor in batch), strict=True):
                # Products are computed in bfloat16; weights, and their small updates, stay in fp32.
                with _autocast(ids.device, dtype):
                    losses = objective(part[0], part[1], Corruption(*part[2:]), counts)
                # Gradients of parts add up, and the graph of each part is freed before the next one.
                losses.total.backward()
                total = [a + b.detach() for a, b in zip(total, losses, strict=True)]
            return Losses(*total), parts
        except torch.OutOfMemoryError as error:
            objective.zero_grad()
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


def _autocast(device: torch.device, dtype: torch.dtype) -> AbstractContextManager[object]:
    return nullcontext() if dtype == torch.float32 else torch.autocast(device.type, dtype)


def _report(observer: Observer | None, objective: Objective, steps: int, means: list[float]) -> None:
    step, values = int(means[0]), dict(zip(Losses._fields, means[1:], strict=True))
    if not math.isfinite(values["total"]):
        raise DetectorError(
            f"The loss must be finite, got {values['total']} at step {step}; lower learning_rate."
        )
    if observer is not None:
        observer.losses(step, steps, {f"loss_{name}": values[name] for name in objective.learned})
