"""DATE masks and replaces tokens: mask patterns and generators (sections 3.1 and 4.4).

Shapes have the names of `electra`: B windows with L tokens, K mask patterns, V word pieces.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from adbench_text.detectors.date.electra import Embeddings, Encoder, Shape, init_weights


def mask_patterns(n_patterns: int, length: int, share: float, generator: torch.Generator) -> Tensor:
    """Draw K distinct patterns (section 3.1) over [CLS], `length` tokens, [SEP]: (K, length + 2)."""
    n_masked = int(share * length)  # positions are absolute: a short document uses the beginning
    patterns: dict[bytes, Tensor] = {}
    # Two equal patterns would be one pattern with two labels, so repeated patterns are drawn again.
    while len(patterns) < n_patterns:
        pattern = torch.zeros(length + 2, dtype=torch.bool)
        pattern[1 + torch.randperm(length, generator=generator)[:n_masked]] = True
        patterns.setdefault(pattern.numpy().tobytes(), pattern)
    return torch.stack(list(patterns.values()))


class RandomGenerator(nn.Module):
    """Draws uniformly from all word pieces: the generator of the final model (section 4.4)."""

    def __init__(self, first: int, n_pieces: int) -> None:
        super().__init__()
        self.first, self.n_pieces = first, n_pieces

    def forward(self, ids: Tensor, lengths: Tensor, masked: Tensor, noise: Tensor) -> tuple[Tensor, None]:
        """Return the ids with masked ones replaced by ids `first` ... `n_pieces` - 1, and no loss (None)."""
        # `noise` is below 1, so the largest id is n_pieces - 1. It is an argument, so that `pl_rmd` can score
        # every document with the same replacements.
        drawn = self.first + (noise * (self.n_pieces - self.first)).long()
        return torch.where(masked, drawn, ids), None


class FrequencyGenerator(nn.Module):
    """Draws each word piece by its frequency."""

    cumulative: Tensor  # (V,), float64; ends with 1

    def __init__(self, frequencies: Tensor) -> None:
        """Take the frequencies of the pieces, (V,), at least 0; the last one is positive."""
        super().__init__()
        cumulative = frequencies.double().cumsum(0)
        self.register_buffer("cumulative", cumulative / cumulative[-1])

    def forward(self, ids: Tensor, lengths: Tensor, masked: Tensor, noise: Tensor) -> tuple[Tensor, None]:
        """Return the ids with masked ones replaced, and no loss (None).

        Inverse transform sampling: the draw is a function of `noise`.
        """
        # right=True: a noise of 0 does not draw a piece with frequency 0.
        drawn = torch.searchsorted(self.cumulative, noise.double(), right=True)
        return torch.where(masked, drawn, ids), None


class LearnedGenerator(nn.Module):
    """A small masked language model that shares the discriminator's embeddings (section 4.4)."""

    def __init__(self, embeddings: Embeddings, shape: Shape, mask_id: int, most: int | None = None) -> None:
        super().__init__()
        size = embeddings.token.embedding_dim
        self.mask_id, self.most = mask_id, most
        self.encoder = Encoder(embeddings, shape)
        self.head = nn.Sequential(nn.Linear(shape.hidden, size), nn.GELU(), nn.LayerNorm(size, eps=1e-12))
        self.bias = nn.Parameter(torch.zeros(embeddings.token.num_embeddings))
        # Without the embeddings: they are shared, and the discriminator has already drawn them.
        for part in (self.encoder.project, self.encoder.blocks, self.head):
            part.apply(init_weights)

    def forward(self, ids: Tensor, lengths: Tensor, masked: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Return the ids with masked ones replaced, and the MLM loss, summed over the masked tokens.

        The replacements are draws from the model's softmax; no gradient flows through the draw.
        """
        x = self.encoder(ids.masked_fill(masked, self.mask_id), lengths).flatten(0, 1)  # (B * L, H)
        # Logits over all V pieces need much memory, so they are computed only for n places.
        place, is_masked = _places(masked, self.most)
        original = ids.flatten()[place]
        logits = (self.head(x[place]) @ self.encoder.embeddings.token.weight.T + self.bias).float()
        # A draw has no derivative. As in ELECTRA, the generator learns only from MLM, not from fooling
        # the discriminator.
        with torch.no_grad():
            # Inverse transform sampling: the draw is a function of `noise`, as in the random generator.
            cumulative = logits.softmax(-1).cumsum(-1)  # (n, V)
            # Rounding may change the last sum, 1: so scale by it, and clamp for a rounded threshold.
            threshold = noise.flatten()[place][:, None] * cumulative[:, -1:]
            # right=True: a threshold of 0 does not draw a piece with probability 0.
            drawn = torch.searchsorted(cumulative, threshold, right=True).squeeze(-1)
            drawn = drawn.clamp_(max=logits.shape[-1] - 1)
        if is_masked is None:
            replaced = ids.flatten().scatter(0, place, drawn).view_as(ids)
            return replaced, F.cross_entropy(logits, original, reduction="sum")
        replaced = ids.flatten().scatter(0, place, torch.where(is_masked, drawn, original)).view_as(ids)
        return replaced, (F.cross_entropy(logits, original, reduction="none") * is_masked).sum()


def _places(masked: Tensor, most: int | None) -> tuple[Tensor, Tensor | None]:
    """Return the places of masked tokens in a flattened batch of windows, of shape (B, L), and None.

    On a GPU, return a fixed number of places, the masked ones first, and which of them are masked. `most` is
    the largest number of masked tokens in a window; None if any number is possible.
    """
    if masked.device.type == "cpu":
        return masked.flatten().nonzero().squeeze(-1), None
    # reading the number of masked tokens would wait for the GPU, so take as many places as possible
    n_windows, length = masked.shape
    n_places = n_windows * min(length, length if most is None else most)
    is_masked, place = masked.flatten().to(torch.uint8).sort(descending=True, stable=True)
    return place[:n_places], is_masked[:n_places].bool()
