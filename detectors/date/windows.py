"""Cut documents into overlapping windows of word pieces."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adbench_text.text.wordpiece import Pieces, WordPiece

STRIDE = 0.8  # of the window with its [CLS] and [SEP], as in DATE's released code
_ROUND = 8  # tokens


class Windows:
    """Windows of documents: [CLS], at most `max_length` pieces, [SEP]; an empty document also has one."""

    def __init__(self, pieces: Pieces, vocabulary: WordPiece, max_length: int) -> None:
        self.max_length = max_length
        # If a window has 3 or fewer pieces, 80 % of its tokens are more than its pieces. Without the minimum,
        # some pieces would be in no window.
        stride = min(int(STRIDE * (max_length + 2)), max_length)
        self.n_pieces = n_pieces = np.diff(pieces.ends)  # of each document
        # -(-a // b) rounds up. The released code adds windows while they begin inside the document.
        n_windows = 1 + np.maximum(0, -(-(n_pieces - max_length) // stride))
        self.text = np.repeat(np.arange(len(n_pieces)), n_windows)  # the document of each window
        first = np.cumsum(n_windows) - n_windows
        # Place of the first piece in the document: the number of the window there, times the stride.
        self.begin = (np.arange(len(self.text)) - first[self.text]) * stride
        held = np.minimum(n_pieces[self.text] - self.begin, max_length)
        self.lengths = held + 2
        # The width of a batch whose longest window this is. Few distinct widths, because the CPU compiles
        # matrix kernels again for each.
        self.padded = np.minimum(-(-self.lengths // _ROUND) * _ROUND, max_length + 2)
        ends = np.cumsum(self.lengths)
        self._starts = ends - self.lengths
        # All windows are in one vector, without pads, between their [CLS] and [SEP].
        flat = np.empty(ends[-1], dtype=np.int64)
        inner = np.ones(len(flat), dtype=np.bool_)
        inner[self._starts] = inner[ends - 1] = False
        flat[self._starts], flat[ends - 1] = vocabulary.cls, vocabulary.sep
        # Place of each piece in `pieces.ids`: the begin of its window there, plus its number in the window.
        # cumsum(held) - held counts the pieces of earlier windows, which arange counts, too.
        source = np.repeat(pieces.ends[self.text] + self.begin - np.cumsum(held) + held, held)
        flat[inner] = pieces.ids[source + np.arange(len(source))]
        self._flat = torch.from_numpy(flat)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def device(self) -> torch.device:
        """The device of batches."""
        return self._flat.device

    def to(self, device: torch.device) -> "Windows":
        """Move the ids to a device, so that batches are made there."""
        self._flat = self._flat.to(device)
        return self

    def batch(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return the padded ids (B, L) of these windows, and their lengths (B,).

        L is a multiple of eight, or the length of the longest possible window.
        """
        device = self.device
        place = torch.from_numpy(np.stack([self._starts[rows], self.lengths[rows]]))
        starts, lengths = place.to(device, non_blocking=True)
        column = torch.arange(int(self.padded[rows].max()), device=device)
        # The padding of the last windows reaches beyond the vector; these places become pads.
        index = (starts[:, None] + column).clamp_(max=len(self._flat) - 1)
        return self._flat[index].masked_fill_(column >= lengths[:, None], 0), lengths
