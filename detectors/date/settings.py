"""Ranges of DATE's hyper-parameters, and the combinations that make no sense."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adbench_text.checks import Choice, Number, Range, Whole
from adbench_text.detectors._devices import DEVICE, PRECISION
from adbench_text.detectors.date.corruption import count_patterns
from adbench_text.detectors.date.scoring import SCORES
from adbench_text.errors import InvalidValueError
from adbench_text.text.wordpiece import BERT, TRAINED

if TYPE_CHECKING:
    from adbench_text.detectors.date import DATE

GENERATORS = {"random": 0, "small": 16, "large": 64}  # width of the learned ones
PL_RMD = "pl_rmd"

RANGES: Mapping[str, Range] = {
    "vocabulary": Choice((TRAINED, BERT)),
    "vocabulary_size": Whole(100),
    "max_length": Whole(1),
    "n_patterns": Whole(0),
    "mask_share": Number("(0, 1)"),
    "generator": Choice(GENERATORS),
    "rtd_weight": Number("[0, inf)"),
    "rmd_weight": Number("[0, inf)"),
    "mlm_weight": Number("[0, inf)"),
    "score": Choice((*SCORES, PL_RMD)),
    "steps": Whole(1),
    "epochs": Whole(1),
    "batch_size": Whole(1),
    "learning_rate": Number("(0, inf)"),
    "embedding_learning_rate": Number("(0, inf)", nullable=True),
    "weight_decay": Number("[0, inf)"),
    "dropout": Number("[0, 1)"),
    "layers": Whole(1),
    "hidden": Whole(4),
    "device": DEVICE,
    "precision": PRECISION,
}


def check_settings(detector: "DATE") -> None:
    """Raise InvalidValueError if hyper-parameters that are in their ranges contradict each other."""
    if detector.hidden % 4:
        raise InvalidValueError(f"hidden must be a multiple of 4, got {detector.hidden}.")
    rates = ["learning_rate"]
    if detector.embedding_learning_rate is not None:
        rates.append("embedding_learning_rate")
    for name in rates:
        # Each step multiplies a weight by 1 - shrinkage, and the lazy rows of the optimiser divide by it.
        shrinkage = getattr(detector, name) * detector.weight_decay
        if shrinkage >= 1:
            raise InvalidValueError(f"{name} * weight_decay must be below 1, got {shrinkage:g}.")
    _check_patterns(detector)
    needed = "rmd_weight" if detector.score == PL_RMD else "rtd_weight"
    if not getattr(detector, needed):
        raise InvalidValueError(
            f"score={detector.score!r} needs a positive {needed}, got 0: nothing else learns this score."
        )


def _check_patterns(detector: "DATE") -> None:
    if not detector.n_patterns:
        if detector.rmd_weight:
            raise InvalidValueError(
                f"n_patterns=0 leaves RMD no pattern to recognise, got rmd_weight={detector.rmd_weight:g}; "
                "set rmd_weight=0 too."
            )
        return
    mask = f"mask_share={detector.mask_share} of max_length={detector.max_length}"
    if int(detector.mask_share * detector.max_length) < 1:
        raise InvalidValueError(f"{mask} masks no position; raise one of them.")
    possible = count_patterns(detector.max_length, detector.mask_share)
    if possible < detector.n_patterns:
        raise InvalidValueError(
            f"n_patterns must be at most {possible}, the number of different patterns for {mask}, "
            f"got {detector.n_patterns}."
        )
