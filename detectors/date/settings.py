"""Ranges of DATE's hyper-parameters, and the combinations that make no sense."""

from typing import TYPE_CHECKING

from adbench_text.checks import check_choice, check_number, check_whole
from adbench_text.detectors._devices import PRECISIONS, check_device
from adbench_text.detectors.date.corruption import count_patterns
from adbench_text.detectors.date.scoring import SCORES
from adbench_text.errors import InvalidValueError
from adbench_text.text.wordpiece import BERT, TRAINED

if TYPE_CHECKING:
    from adbench_text.detectors.date import DATE

GENERATORS = {"random": 0, "small": 16, "large": 64}  # width of the learned ones
PL_RMD = "pl_rmd"

_CHOICES = {
    "vocabulary": (TRAINED, BERT),
    "generator": tuple(GENERATORS),
    "score": (*SCORES, PL_RMD),
    "precision": PRECISIONS,
}
_MINIMA = {
    "vocabulary_size": 100,
    "max_length": 1,
    "n_patterns": 0,
    "steps": 1,
    "epochs": 1,
    "batch_size": 1,
    "layers": 1,
    "hidden": 4,
}
_INTERVALS = {
    "mask_share": "(0, 1)",
    "dropout": "[0, 1)",
    "learning_rate": "(0, inf)",
    **dict.fromkeys(("rtd_weight", "rmd_weight", "mlm_weight", "weight_decay"), "[0, inf)"),
}


def check_settings(detector: "DATE") -> None:
    """Raise InvalidValueError if a hyper-parameter is out of range, or two contradict each other."""
    for name, choices in _CHOICES.items():
        check_choice(name, getattr(detector, name), choices)
    for name, least in _MINIMA.items():
        check_whole(name, getattr(detector, name), least)
    for name, interval in _INTERVALS.items():
        check_number(name, getattr(detector, name), interval)
    if detector.hidden % 4:
        raise InvalidValueError(f"hidden must be a multiple of 4, got {detector.hidden}.")
    rates = ["learning_rate"]
    if detector.embedding_learning_rate is not None:
        check_number("embedding_learning_rate", detector.embedding_learning_rate, "(0, inf)")
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
    check_device(detector.device)


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
