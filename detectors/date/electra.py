"""DATE's discriminator and objective (Manolache et al., NAACL 2021, section 3).

B windows with L tokens, padded at their end; H is the width of a network, K the number of mask patterns, V
the number of word pieces. A window begins with [CLS]; the tokens after it may be masked, replaced and scored.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """Sizes of a transformer encoder (section 4.2)."""

    hidden: int = 256
    layers: int = 4
    heads: int = 4
    feed_forward: int = 1024
    dropout: float = 0.0  # share of activations that training drops, in [0, 1)


class Embeddings(nn.Module):
    """Token, position and token-type embeddings; generator and discriminator share them."""

    def __init__(self, n_pieces: int, n_positions: int, size: int = 128) -> None:
        super().__init__()
        self.token = nn.Embedding(n_pieces, size)
        self.position = nn.Embedding(n_positions, size)
        # there is only one type, but its random start matters: a learning rate of 1e-5 changes it little
        self.token_type = nn.Embedding(1, size)

    def forward(self, ids: Tensor) -> Tensor:
        """Return (B, L, size) of ids (B, L)."""
        # Positions are 0, 1, 2, ... in every row, so a slice replaces a look-up, and has a dense gradient.
        place = self.position.weight[: ids.shape[1]] + self.token_type.weight
        token: Tensor = self.token(ids)
        return token + place


class Block(nn.Module):
    """One post-LayerNorm transformer layer, as in BERT."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, shape.dropout
        # One large product is faster than three.
        self.query_key_value = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.attended = nn.Linear(shape.hidden, shape.hidden)
        self.attention_norm = nn.LayerNorm(shape.hidden, eps=1e-12)
        self.expand = nn.Linear(shape.hidden, shape.feed_forward)
        self.contract = nn.Linear(shape.feed_forward, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Return (B, L, H) for x (B, L, H); `bias` (B, 1, 1, L) is added to the attention logits."""
        p = self.dropout if self.training else 0.0
        # (B, L, 3H) -> three of (B, heads, L, H / heads)
        q, k, v = self.query_key_value(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        # Join the heads again: (B, heads, L, H / heads) -> (B, L, H).
        context = _attention(q, k, v, bias, p).transpose(1, 2).flatten(2)
        x = self.attention_norm(x + F.dropout(self.attended(context), p))
        out: Tensor = self.norm(x + F.dropout(self.contract(F.gelu(self.expand(x))), p))
        return out


def _attention(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, dropout: float) -> Tensor:
    """Return the scaled dot-product attention, (B, heads, L, H / heads)."""
    if not q.requires_grad:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=dropout)
    # On a CPU, the backward pass of the fused kernel takes longer than everything else for a short document.
    # On a GPU, it does not give exactly the same numbers again.
    # Scale q, because it has fewer numbers than the logits of a long document.
    logits = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-1, -2) + bias
    return F.dropout(logits.softmax(-1), dropout) @ v


class Encoder(nn.Module):
    """Embeddings, followed by a stack of layers."""

    def __init__(self, embeddings: Embeddings, shape: Shape) -> None:
        super().__init__()
        size = embeddings.token.embedding_dim
        self.embeddings = embeddings
        self.norm = nn.LayerNorm(size, eps=1e-12)
        self.dropout = shape.dropout
        self.project = nn.Linear(size, shape.hidden)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, L, H) for ids (B, L); in each row, the first `lengths` (B,) ids are real."""
        p = self.dropout if self.training else 0.0
        x: Tensor = self.project(F.dropout(self.norm(self.embeddings(ids)), p))
        # -inf gives pads an attention of exactly 0, so that a score does not depend on the padding. The
        # released code has no such mask. A row of only -inf would give NaN, but [CLS] is always real.
        bias = torch.zeros(ids.shape, dtype=x.dtype, device=x.device)
        bias = bias.masked_fill_(~is_real(ids, lengths), -math.inf)[:, None, None, :]
        for block in self.blocks:
            x = block(x, bias)
        return x


def is_real(ids: Tensor, lengths: Tensor) -> Tensor:
    """Return which tokens are not pads, (B, L)."""
    return torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]


class Judgement(NamedTuple):
    """Output of the discriminator: logits of "replaced" (B, L), and of each mask pattern (B, K)."""

    rtd: Tensor
    rmd: Tensor


class Discriminator(nn.Module):
    """Recognises replaced tokens, and the mask pattern that chose them."""

    prior: Tensor | None  # log-odds of "replaced" for each piece, (V,); RTD adds its logits to them

    def __init__(
        self, embeddings: Embeddings, shape: Shape, n_patterns: int, prior: Tensor | None = None
    ) -> None:
        super().__init__()
        H = shape.hidden
        self.encoder = Encoder(embeddings, shape)
        self.rtd_head = nn.Sequential(nn.Linear(H, H), nn.GELU(), nn.Linear(H, 1))
        self.rmd_head = nn.Sequential(nn.Linear(H, H), nn.ReLU(), nn.Linear(H, n_patterns))
        self.apply(init_weights)
        self.register_buffer("prior", prior)
        if prior is not None:
            # The network learns what the prior lacks, so it begins with 0.
            for weights in self.rtd_head[-1].parameters():
                nn.init.zeros_(weights)

    def forward(self, ids: Tensor, lengths: Tensor) -> Judgement:
        """Judge ids (B, L); in each row, the first `lengths` (B,) ids are real."""
        x = self.encoder(ids, lengths)
        # RMD judges the window by its [CLS]. In fp32, because losses and probabilities need the digits.
        rtd = self.rtd_head(x).squeeze(-1).float()
        if self.prior is not None:
            rtd = rtd + self.prior[ids]
        return Judgement(rtd, self.rmd_head(x[:, 0]).float())

    def rtd(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return only the logits of "replaced", (B, L); before the first step they equal the prior."""
        if self.prior is not None and not any(weights.any() for weights in self.rtd_head[-1].parameters()):
            return self.prior[ids]
        judgement: Judgement = self(ids, lengths)
        return judgement.rtd


def init_weights(module: nn.Module) -> None:
    """Draw the weights of a module as BERT does; for ``Module.apply``."""
    # LayerNorm keeps its initial weights of 1 and biases of 0.
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


class Corruption(NamedTuple):
    """Corruption of a batch: masked tokens (B, L), their patterns (B,), noise (B, L)."""

    masked: Tensor
    pattern: Tensor
    noise: Tensor


class Losses(NamedTuple):
    """The weighted total and its named parts, each a scalar."""

    total: Tensor
    rtd: Tensor
    rmd: Tensor
    mlm: Tensor


class Objective(nn.Module):
    """DATE's loss (section 3.4): weighted sum of RTD, RMD and, with a learned generator, MLM.

    `generator` maps ids, lengths, masked tokens (B, L) and noise (B, L) in [0, 1) to replaced ids (B, L) and
    to the summed MLM loss, which is None if it does not learn. The objective also has the patterns and the
    noise that a detector draws once.
    """

    patterns: Tensor | None  # mask patterns, (K, max_length + 2); None if masks are drawn for each batch
    noise: Tensor  # chooses the replacements for ``pl_rmd``, the same for every document; same shape

    def __init__(
        self,
        generator: nn.Module,
        discriminator: Discriminator,
        rtd_weight: float = 50.0,
        rmd_weight: float = 100.0,
    ) -> None:
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
        self.rtd_weight, self.rmd_weight = rtd_weight, rmd_weight
        self.register_buffer("patterns", None)
        self.register_buffer("noise", None)

    def forward(self, ids: Tensor, lengths: Tensor, corruption: Corruption) -> Losses:
        """Corrupt ids (B, L) and return the losses."""
        masked, pattern, noise = corruption
        # Replaced ids are integers, so gradients of RTD and RMD cannot reach the generator.
        replaced, mlm = self.generator(ids, lengths, masked, noise)  # eq. 1
        judgement = self.discriminator(replaced, lengths)
        real = is_real(ids, lengths)
        real[:, 0] = False  # [CLS] is never replaced
        n_tokens, n_windows, n_masked = n_scored(ids, lengths, masked).unbind()
        # As in the released code, RTD does not count a replacement that equals the original. For RMD its
        # pattern was applied all the same.
        label = (replaced != ids).float()
        # From logits, because the logarithm of a sigmoid near 0 or 1 loses all digits.
        per_token = F.binary_cross_entropy_with_logits(judgement.rtd, label, reduction="none")
        rtd = (per_token * real).sum() / n_tokens  # eq. 3
        rmd = judgement.rmd.new_zeros(())
        if self.rmd_weight:
            rmd = F.cross_entropy(judgement.rmd, pattern, reduction="sum") / n_windows  # eq. 2
        mlm = rtd.new_zeros(()) if mlm is None else mlm / n_masked
        total = self.rtd_weight * rtd + self.rmd_weight * rmd + mlm  # eq. 5
        return Losses(total, rtd, rmd, mlm)


def n_scored(ids: Tensor, lengths: Tensor, masked: Tensor) -> Tensor:
    """Count tokens after [CLS], windows, and masked tokens, (3,); every number is at least 1."""
    # On the device of the lengths, so that nothing waits for a copy. [CLS] of each window is not scored.
    n_windows = torch.full_like(lengths[0], len(ids))
    counts = torch.stack([lengths.sum() - n_windows, n_windows, masked.sum()])
    return counts.clamp(min=1).float()  # empty documents or no masked token: 0 / 1, not 0 / 0
