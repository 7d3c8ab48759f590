"""Score documents with a trained DATE, in fp32 and by length: a score depends only on its document."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adbench_text.detectors._batches import scoring_batches
from adbench_text.detectors.date.electra import Discriminator, Objective, is_real
from adbench_text.detectors.date.windows import Windows

_TOKENS = 8192  # of a batch


class Score(NamedTuple):
    """A score of tokens, computed from the logit of "replaced"."""

    normality: Callable[[Tensor], Tensor]
    most: float = 1.0  #: upper bound of the normality; 0 without a bound
    counts_sep: bool = True  #: whether [SEP] of a window that is not full counts, as in the released code


WindowScore = Literal["pl", "mp", "ne", "log_odds"]
SCORES: dict[WindowScore, Score] = {
    # Scores of section 3.5, with p = P(replaced). Pseudo label: P(original), since in a clean document every
    # token is original
    "pl": Score(lambda logit: 1 - logit.sigmoid()),
    # maximum probability
    "mp": Score(lambda logit: _maximum(logit.sigmoid())),
    # negative entropy, as in the released code
    "ne": Score(lambda logit: _negative_entropy(logit.sigmoid()), 2.0),
    # The sum of log-odds weighs evidence like a likelihood ratio. [SEP] is never replaced: its log-odds would
    # only measure the length.
    "log_odds": Score(lambda logit: -logit, 0.0, counts_sep=False),
}


def _maximum(p: Tensor) -> Tensor:
    return torch.maximum(p, 1 - p)


def _negative_entropy(p: Tensor) -> Tensor:
    """Return the sum of (q + 1) log2(q + 1) over q = p, 1 - p."""
    return (p + 1) * torch.log2(p + 1) + (2 - p) * torch.log2(2 - p)


def window_scores(discriminator: Discriminator, windows: Windows, score: WindowScore) -> NDArray[np.float64]:
    """Return how abnormal each window is: the mean over its tokens without [CLS]; 0 without tokens."""
    normality_of, most, counts_sep = SCORES[score]

    def judge(ids: Tensor, lengths: Tensor) -> Tensor:
        normality = normality_of(discriminator.rtd(ids, lengths))
        counted = _counted(windows, ids, lengths if counts_sep else lengths - 1)
        abnormality: Tensor = most - (normality * counted).sum(1) / counted.sum(1).clamp(min=1)
        return abnormality

    return _over(windows, judge)


def rmd_scores(
    objective: Objective, windows: Windows, patterns: Tensor, noise: Tensor
) -> NDArray[np.float64]:
    """Return for each window 1 - the mean probability of the applied pattern (eq. 6); it takes K passes."""

    def judge(ids: Tensor, lengths: Tensor) -> Tensor:
        real, L = is_real(ids, lengths), ids.shape[1]
        probability = torch.zeros(len(ids), device=ids.device)
        for k in range(len(patterns)):
            masked = patterns[k, :L] & real
            # The same noise for every window, because a score must not depend on the rest of the batch.
            replaced, _ = objective.generator(ids, lengths, masked, noise[k, :L].expand_as(ids))
            probability += objective.discriminator(replaced, lengths).rmd.softmax(-1)[:, k]
        return 1 - probability / len(patterns)

    return _over(windows, judge)


def token_scores(
    discriminator: Discriminator, windows: Windows, score: WindowScore
) -> list[NDArray[np.float64]]:
    """Return how abnormal each piece of each document is; where windows overlap, take their mean.

    There is an array for each document, with a number for each piece.
    """
    normality_of, most, _ = SCORES[score]
    n_pieces = windows.n_pieces
    sums, counts = ([np.zeros(n) for n in n_pieces] for _ in range(2))
    for rows, logits in _in_batches(windows, discriminator.rtd):
        # `most` is the upper bound of the normality, or 0 without a bound.
        # float64, because the scores of a piece in several windows are added up.
        abnormality = (most - normality_of(logits)).double().cpu().numpy()
        for row, values in zip(rows, abnormality, strict=True):
            # windows.text[row] is the number of the document of the window. `begin` is the place of the first
            # piece there. `held` is the number of pieces: [CLS] and [SEP] are not pieces of the document.
            text, begin, held = windows.text[row], windows.begin[row], windows.lengths[row] - 2
            sums[text][begin : begin + held] += values[1 : 1 + held]
            counts[text][begin : begin + held] += 1
    return [total / count for total, count in zip(sums, counts, strict=True)]


def _counted(windows: Windows, ids: Tensor, lengths: Tensor) -> Tensor:
    """Return which tokens count, (B, L): the tokens that a pattern may mask."""
    counted: Tensor = is_real(ids, lengths)
    counted[:, 0] = False
    counted[:, windows.max_length + 1 :] = False  # [SEP] of a full window
    return counted


def _over(windows: Windows, judge: Callable[[Tensor, Tensor], Tensor]) -> NDArray[np.float64]:
    """Return the number that `judge` gives each window, in the order of the windows."""
    result = np.empty(len(windows))
    for rows, values in _in_batches(windows, judge):
        result[rows] = values.cpu().numpy()
    return result


def _in_batches(
    windows: Windows, judge: Callable[[Tensor, Tensor], Tensor]
) -> Iterator[tuple[NDArray[np.int64], Tensor]]:
    """Yield the row numbers of each batch, and its result."""
    for rows in scoring_batches(windows.padded, _TOKENS):
        with torch.inference_mode():
            values = judge(*windows.batch(rows))
        yield rows, values
