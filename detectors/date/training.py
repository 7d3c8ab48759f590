"""Train DATE: batches, corruption and steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import AdamW

from adbench_text.contract.detector import Observer, report_losses
from adbench_text.detectors._batches import training_batches
from adbench_text.detectors.date.cuda_graphs import CudaGraphs
from adbench_text.detectors.date.electra import Corruption, Losses, Objective, is_real
from adbench_text.detectors.date.windows import Windows

BETAS, EPS, WEIGHT_DECAY, MAX_NORM = (0.9, 0.999), 1e-8, 0.1, 1.0
_REPORT_EVERY = 50  # steps between two reports of the losses, because a report waits for the device


@dataclass(frozen=True)
class Training:
    """Settings of a training."""

    steps: int
    batch_size: int
    learning_rate: float
    patterns: Tensor | None  # mask patterns, (K, max_length + 2), on the device; None draws masks per batch
    mask_share: float  # without patterns: the chance that a token is masked
    seed: int  # the draws in step t are a function of it and t
    dtype: torch.dtype  # the precision of the networks
    embedding_learning_rate: float | None = None  # of the token embeddings; None for `learning_rate`

    def seed_of(self, step: int) -> int:
        """Return the seed for the draws in a step."""
        # SeedSequence mixes its parts, so neighbouring steps are independent, unlike with seed + step.
        return int(np.random.SeedSequence([self.seed, step]).generate_state(1)[0])

    def corruption(self, step: int, ids: Tensor, lengths: Tensor) -> Corruption:
        """Draw the masked tokens of a batch of ids (B, L), and the noise for their replacements.

        With patterns, each text draws the number of its pattern; without them, the number is 0.
        """
        device = ids.device
        # The generator depends only on seed and step, so that the draws of an observer change nothing.
        random = torch.Generator(device).manual_seed(self.seed_of(step))
        noise = torch.rand(ids.shape, generator=random, device=device)
        if self.patterns is None:
            pattern = lengths.new_zeros(len(ids))
            masked = torch.rand(ids.shape, generator=random, device=device) < self.mask_share
            # [CLS] is never masked; patterns are already False there.
            masked[:, 0] = False
        else:
            pattern = torch.randint(len(self.patterns), (len(ids),), generator=random, device=device)
            masked = self.patterns[pattern, : ids.shape[1]]
        # Pads are never masked, as in the released code.
        return Corruption(masked & is_real(ids, lengths), pattern, noise)


def train(
    objective: Objective, windows: Windows, training: Training, observer: Observer | None = None
) -> None:
    """Train the networks of an objective on windows."""
    # Sums of the losses since the last report, on the device, so that no step waits for them.
    sums = torch.zeros(len(Losses._fields), device=windows.device)
    # Dropout draws from the global generators; the fork restores the state of the caller.
    with torch.random.fork_rng([windows.device] if windows.device.type == "cuda" else []):
        for step, losses in _steps(objective, windows, training):
            sums += losses
            if step % _REPORT_EVERY == 0 or step == training.steps:
                n_steps = (step - 1) % _REPORT_EVERY + 1
                means = zip(Losses._fields, (sums / n_steps).tolist(), strict=True)
                # a loss that is not computed is 0
                report_losses(observer, step, training.steps, {name: mean for name, mean in means if mean})
                sums.zero_()
    objective.eval()


def adamw(objective: Objective, training: Training) -> AdamW:
    """Return AdamW with AMSGrad (Loshchilov and Hutter, 2019; Reddi et al., 2018) for all weights."""
    token = objective.discriminator.encoder.embeddings.token.weight
    token_rate = training.embedding_learning_rate or training.learning_rate
    others = [p for p in objective.parameters() if p is not token]
    groups: list[dict[str, Any]] = [{"params": [token], "lr": token_rate}, {"params": others}]
    on_gpu = token.is_cuda
    return AdamW(
        groups, training.learning_rate, BETAS, EPS, WEIGHT_DECAY, amsgrad=True, fused=True, capturable=on_gpu
    )


def _steps(objective: Objective, windows: Windows, training: Training) -> Iterator[tuple[int, Tensor]]:
    """Do all steps; after each update, yield the number of the step and its losses.

    On a GPU, the next step overwrites the losses: use them before, or copy them.
    """
    optimizer = adamw(objective, training)
    batches = training_batches(windows.lengths, training.batch_size, training.seed)
    objective.train()

    def update(ids: Tensor, lengths: Tensor, *corruption: Tensor) -> Tensor:
        """Do a step, and return its losses; a CUDA graph takes tensors, so the `Corruption` is unpacked."""
        objective.zero_grad()
        # Products are computed in bfloat16; weights and their small updates stay in fp32.
        with torch.autocast(windows.device.type, torch.bfloat16, training.dtype == torch.bfloat16):
            losses = objective(ids, lengths, Corruption(*corruption))
        losses.total.backward()
        torch.nn.utils.clip_grad_norm_(objective.parameters(), MAX_NORM)
        optimizer.step()
        return torch.stack(losses).detach()

    # Without a graph, starting the kernels of a step takes ten times as long as running them.
    run = CudaGraphs(update) if windows.device.type == "cuda" else update
    for step in range(1, training.steps + 1):
        ids, lengths = windows.batch(next(batches))
        corruption = training.corruption(step, ids, lengths)
        # Another seed than the corruption has: dropout must not repeat its random numbers.
        torch.manual_seed(training.seed_of(step) + 1)
        yield step, run(ids, lengths, *corruption)
