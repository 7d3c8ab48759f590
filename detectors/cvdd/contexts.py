"""CVDD's network and objective (Ruff et al., ACL 2019, section 3).

B documents are padded to L unique words; d is the dimension of a word vector, R the number of attention
heads, which have a context vector each. A document is a bag of words: attention looks at each word
separately, so a word that occurs c times gets c times the attention of a single word: its logit grows by
log c.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from adbench_text.contract.detector import Observer, report_losses
from adbench_text.detectors._batches import training_batches

ATTENTION_SIZE = 150  # inner width of the attention
WEIGHT_DECAY = 5e-7
_SETTLED = 5  # epochs; their mean loss is compared with the mean of the five epochs before


class Bags:
    """Documents as bags of words, from word counts (n_texts, n_words) and vectors (n_words, d)."""

    def __init__(
        self,
        counts: "csr_array[Any]",
        vocabulary: NDArray[Any],
        table: NDArray[np.float32],
        device: torch.device,
    ) -> None:
        self._counts, self._vocabulary = counts, vocabulary
        self._starts = counts.indptr[:-1].astype(np.int64)
        self.lengths = np.diff(counts.indptr).astype(np.int64)
        # The rows of the sparse matrix are flat arrays on the device; `batch` cuts padded rectangles from it.
        self._words = torch.from_numpy(counts.indices.astype(np.int64)).to(device)
        self._log_counts = torch.from_numpy(np.log(counts.data).astype(np.float32)).to(device)
        self._table = torch.from_numpy(table).to(device)

    def words(self, row: int) -> NDArray[Any]:
        """Return the unique words of a document."""
        return self._vocabulary[self._counts.indices[self._counts.indptr[row] : self._counts.indptr[row + 1]]]

    def means(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean word vectors of these documents, scaled to length 1, (n, d)."""
        # Sums and means have the same direction.
        sums = self._counts[rows] @ self._table.cpu().numpy().astype(np.float64)
        length: NDArray[np.float64] = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-8)
        return sums / length

    def batch(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the words' vectors (B, L, d) and log counts (B, L), -inf for pads."""
        device = self._words.device
        starts, lengths = torch.from_numpy(np.stack([self._starts[rows], self.lengths[rows]])).to(device)
        column = torch.arange(int(self.lengths[rows].max()), device=device)
        # The padding of the last documents reaches beyond the end; these places become pads below.
        index = (starts[:, None] + column).clamp_(max=len(self._words) - 1)
        log_counts = self._log_counts[index].masked_fill_(column >= lengths[:, None], -math.inf)
        return self._table[self._words[index]], log_counts


class Attended(NamedTuple):
    """Distances of documents from the contexts (B, R) in [0, 1], and attention to their words (B, R, L)."""

    distances: Tensor
    attention: Tensor


class ContextNetwork(nn.Module):
    """Self-attention with several heads over frozen word vectors, and a context (R, d) for each head."""

    def __init__(self, contexts: Tensor, random: torch.Generator) -> None:
        super().__init__()
        heads, dimensions = contexts.shape
        self.inner = nn.Parameter(_draw(ATTENTION_SIZE, dimensions, random))
        self.outer = nn.Parameter(_draw(heads, ATTENTION_SIZE, random))
        self.contexts = nn.Parameter(contexts)

    def forward(self, vectors: Tensor, log_counts: Tensor) -> Attended:
        """Attend to words with vectors (B, L, d) and log counts (B, L), -inf for pads."""
        logits = torch.tanh(vectors @ self.inner.T) @ self.outer.T  # (B, L, R)
        # log c added to a logit multiplies its weight by c; -inf makes the weight of a pad exactly 0.
        attention = (logits.transpose(1, 2) + log_counts[:, None]).softmax(-1)  # eq. 2
        attended = attention @ vectors  # (B, R, d), eq. 1
        distances = (1 - F.cosine_similarity(attended, self.contexts, dim=-1)) / 2  # eq. 4
        # Rounding may make a cosine slightly larger than 1.
        return Attended(distances.clamp(0, 1), attention)

    def shares(self, vectors: Tensor, log_counts: Tensor) -> Tensor:
        """Return the share of one occurrence of each word in the document's mean distance over heads, (B, L).

        The cosine of a sum is a sum over its words. a_w is the attention to a word, h_w its vector, m the
        attended sum, and c the context, of unit length. Then the distance is the sum over the words of
        a_w (1 - h_w c / |m|) / 2.
        """
        attention: Tensor = self(vectors, log_counts).attention  # (B, R, L)
        length = (attention @ vectors).norm(dim=-1, keepdim=True).clamp(min=1e-8)
        # Cosine of each word with each context, times the length of its vector.
        along = F.normalize(self.contexts, dim=-1) @ vectors.transpose(1, 2)  # (B, R, L)
        of_word: Tensor = (attention * (1 - along / length) / 2).mean(1)
        # A word that occurs c times has c equal shares. Pads have a count of 0: `where` drops their 0 / 0.
        return torch.where(of_word == 0, 0, of_word / log_counts.exp())


def _draw(n_out: int, n_in: int, random: torch.Generator) -> Tensor:
    """Draw a matrix uniformly in +- 1 / sqrt(n_in), as in the released code."""
    return (2 * torch.rand(n_out, n_in, generator=random) - 1) / math.sqrt(n_in)


class Losses(NamedTuple):
    """The weighted total and its parts, each a scalar."""

    total: Tensor
    distance: Tensor
    orthogonality: Tensor


def losses_of(distances: Tensor, contexts: Tensor, alpha: float, weight: float) -> Losses:
    """Return CVDD's losses of distances (B, R) from contexts (R, d); see eq. 5 to 8.

    The distance of a document is the mean over the heads, weighted by the softmax of -alpha times their
    distances. The penalty on contexts that are not orthonormal has the weight `weight`.
    """
    # With alpha 0 this is the plain mean; with a large alpha only the nearest context counts. Gradients also
    # flow through the weights.
    distance = ((-alpha * distances).softmax(-1) * distances).sum(-1).mean()
    # The diagonal counts, so the penalty also draws contexts to length 1.
    gram = contexts @ contexts.T
    orthogonality = (gram - torch.eye(len(gram), device=gram.device)).square().mean()
    return Losses(distance + weight * orthogonality, distance, orthogonality)


class Phase(NamedTuple):
    """Settings of a training for some epochs."""

    alpha: float
    learning_rate: float


#: alpha in each fifth of the epochs, as in the released code. There the last value, 1, would begin when the
#: training ends. With a higher alpha, the nearest context of a document gets more weight.
ALPHAS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)


def phases(epochs: int, learning_rate: float) -> list[Phase]:
    """Return the settings of each epoch; after two fifths of them, the learning rate falls to a tenth."""
    return [
        # In integers, so that the borders of a fifth are not rounded.
        Phase(ALPHAS[5 * epoch // epochs], learning_rate * (1 if 5 * epoch < 2 * epochs else 0.1))
        for epoch in range(epochs)
    ]


@dataclass(frozen=True)
class Training:
    """Settings of a training."""

    phases: Sequence[Phase]  # one for each epoch
    batch_size: int
    orthogonality_weight: float
    tolerance: float  # a phase ends early if the mean loss of five epochs falls by less than this share
    seed: int  # of the batches


def train(
    network: ContextNetwork,
    bags: Bags,
    rows: NDArray[np.int64],
    training: Training,
    observer: Observer | None = None,
) -> None:
    """Train a network on the documents in these rows, which all have words; everything is on one device."""
    optimizer = torch.optim.Adam(network.parameters(), weight_decay=WEIGHT_DECAY, fused=True)
    batches = training_batches(bags.lengths[rows], training.batch_size, training.seed)
    n_batches = math.ceil(len(rows) / training.batch_size)
    step, left = 0, len(training.phases)
    for phase, equal in groupby(training.phases):
        n_epochs = len(list(equal))
        left -= n_epochs
        of_phase: list[float] = []  # mean losses
        optimizer.param_groups[0]["lr"] = phase.learning_rate
        while len(of_phase) < n_epochs and not _has_settled(of_phase, training.tolerance):
            # Added up on the device, to wait for it once in each epoch and not in each step.
            sums = torch.zeros(len(Losses._fields), device=network.contexts.device)
            # `batches` never ends; so many batches are an epoch.
            for batch in islice(batches, n_batches):
                distances = network(*bags.batch(rows[batch])).distances
                losses = losses_of(distances, network.contexts, phase.alpha, training.orthogonality_weight)
                torch.autograd.backward(losses.total)
                torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)  # as in the released code
                optimizer.step()
                optimizer.zero_grad()
                sums += torch.stack(losses).detach()
                step += 1
            means = (sums / n_batches).tolist()
            of_phase.append(means[0])
            # If a phase ends early, fewer steps are left, so a smaller total is reported.
            steps = step + n_batches * (left + n_epochs - len(of_phase))
            report_losses(observer, step, steps, dict(zip(Losses._fields, means, strict=True)))


def _has_settled(losses: Sequence[float], tolerance: float) -> bool:
    """Return whether the mean of the last losses is only a little below the mean of the losses before."""
    if not tolerance or len(losses) < 2 * _SETTLED:
        return False
    before, last = sum(losses[-2 * _SETTLED : -_SETTLED]), sum(losses[-_SETTLED:])
    return before - last <= tolerance * abs(before)
