"""Builds DATE's networks from its hyper-parameters."""

from typing import TYPE_CHECKING

import torch

from adbench_text.detectors.date.corruption import LearnedGenerator, RandomGenerator
from adbench_text.detectors.date.electra import Discriminator, Embeddings, Objective, Shape
from adbench_text.detectors.date.settings import GENERATORS
from adbench_text.text import wordpiece
from adbench_text.text.wordpiece import WordPiece

if TYPE_CHECKING:
    from adbench_text.detectors.date import DATE


def build(detector: "DATE", pieces: WordPiece, device: torch.device, seed: int) -> Objective:
    """Return the networks of a detector, with weights drawn by a seed, on a device."""
    # The initial weights come from the global generator of torch; the fork leaves its state as it was.
    with torch.random.fork_rng([]):
        torch.default_generator.manual_seed(seed)
        return _networks(detector, pieces).to(device)


def _networks(detector: "DATE", pieces: WordPiece) -> Objective:
    # Two positions more than pieces: [CLS] and [SEP].
    embeddings = Embeddings(pieces.size, detector.max_length + 2)
    hidden = detector.hidden
    shape = Shape(hidden, detector.layers, feed_forward=4 * hidden, dropout=detector.dropout)
    # Without patterns the RMD head has one output, whose loss has weight 0.
    discriminator = Discriminator(embeddings, shape, max(detector.n_patterns, 1))
    generator: torch.nn.Module
    if detector.generator == "random":
        generator = RandomGenerator(wordpiece.FIRST, pieces.size)
    else:
        # The depth, inner width and dropout of the paper's ablation.
        small = Shape(GENERATORS[detector.generator], layers=1, feed_forward=1024, dropout=0.1)
        # Masks that are drawn for each batch may hold any number of tokens.
        most = int(detector.mask_share * detector.max_length) if detector.n_patterns else None
        generator = LearnedGenerator(embeddings, small, pieces.mask, most)
    return Objective(generator, discriminator, detector.rtd_weight, detector.rmd_weight, detector.mlm_weight)
