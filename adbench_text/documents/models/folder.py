"""Save a model in a folder, and load it without executing any code from the folder.

The folder contains:

``model.json``   the format number and the version that saved it; name, package and settings of the
                 detector, and of the detector of form if there is one; digests of resources outside the
                 folder, such as word vectors; the method of calibration; facts about the training documents;
                 the SHA-256 of both files
``state.skops``  what the detectors learned (see `state`), the calibration scores, digests of the documents,
                 and a MinHash of one document for each family of near-copies

The training documents are not saved. For each document, the model keeps a digest of 64 bits to recognise
copies, 100 bytes to recognise near-copies, and its words if a detector needs them. For each word that two
documents share, it keeps a digest and the number of documents, to find words that grew. Some detectors also
need word counts of each document (``knn-words``), or its vector (``form``, and PyOD's detectors that search
neighbours). For an encoder in a file, the model keeps up to 160 words that five documents share. They check
that the encoder is the same.

Resources outside the folder are not copied. Loading finds them in the same way as training, and compares
their digests.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from adbench_text import __version__, own_file
from adbench_text.contract.detector import TextDetector
from adbench_text.contract.scores import UNSAVED, check_scores
from adbench_text.documents.models.grown_words import KnownWords
from adbench_text.documents.models.model import FORM, Model, TrainingFacts
from adbench_text.documents.models.state import dump, load
from adbench_text.errors import (
    AdbenchTextError,
    DetectorError,
    InvalidValueError,
    ModelError,
    UnknownNameError,
)
from adbench_text.failures import described
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.text.languages import is_language
from adbench_text.text.own_encoder import identify_by, is_same

#: Number of the format. Raise it if an older model can no longer be loaded, or would give other scores (see
#: CONTRIBUTING.md). Otherwise `tests/documents/models/test_kept.py` fails.
FORMAT = 3

_KIND = "adbench-text model"
_DESCRIPTION, _STATE = "model.json", "state.skops"
_KINDS: dict[str, Callable[[Any], bool]] = {  # checks of the facts about training, and of its options
    "n_documents": lambda value: type(value) is int,
    "digest": lambda value: isinstance(value, str),
    "source": lambda value: isinstance(value, str),
    "options": lambda value: isinstance(value, dict),
    "configuration": lambda value: isinstance(value, str),
    "language": is_language,
    "clean": lambda value: isinstance(value, bool),
    "centre": lambda value: type(value) in (int, float) and isfinite(value),
    "median_words": lambda value: type(value) in (int, float) and isfinite(value),
    "p_without_words": lambda value: type(value) in (int, float) and 0 < value <= 1,
    "probes": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
}
_VERSIONS = ("code", "libraries", "library")  # resources whose names end so may have any version


def save_model(model: Model, folder: Path | str, *, overwrite: bool = False) -> Path:
    """Save a model in a folder; return the path of the folder.

    The files are written to a temporary folder, which is renamed when it is complete. If nothing has used the
    scores of the training documents before, the loaded detector has no ``threshold_``, ``labels_``,
    ``predict`` and ``predict_proba``. Its scores and the calibration do not change.

    Parameters
    ----------
    model : Model
    folder : path
    overwrite : bool, default False
        Whether to replace an existing model in this folder.

    Raises
    ------
    InvalidValueError
        If `model` is not a `Model`, or its detector cannot be saved.
    DetectorError
        If the state of the detector cannot be saved.
    ModelError
        If the folder cannot be written, or contains something else.
    """
    if not isinstance(model, Model):
        raise InvalidValueError(
            f"A Model is needed, with a detector and its calibration, got {type(model).__name__}; "
            "fit one with fit_model(texts, detector)."
        )
    folder = Path(folder).expanduser()
    check_target(folder, overwrite)
    files, target = _files(model), folder.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:40]}-") as temporary:
            new, old = Path(temporary, "new"), Path(temporary, "old")
            new.mkdir()
            for name, data in files.items():
                (new / name).write_bytes(data)
            if target.exists():
                target.rename(old)
            try:
                new.rename(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
    except OSError as error:
        raise ModelError(
            f"Cannot write {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    return folder


def load_model(folder: Path | str, encoder: str = "") -> Model:
    """Load a model from a folder that `save_model` wrote. No code and no pickle is executed.

    Parameters
    ----------
    folder : path
    encoder : str
        The file of the encoder, for a model that was fitted with an encoder in a file: ``./mine.py:embed``.
        The file is code, so the model does not load it by itself.

    Raises
    ------
    ModelError
        If the model is missing or damaged, it needs a package that is not installed, or `encoder` is not the
        same as in training.
    """
    folder = Path(folder).expanduser()
    description = read_description(folder)
    try:
        with preserved():
            _check_files(folder, description["detectors"], encoder)
            name = description["detectors"][0]["name"]
            training = _training(description["training"], folder)
            probes = training.options.get("probes", ())
            detectors = [_unfitted(each, probes) for each in description["detectors"]]
            data = _content(folder / _STATE)
            if hashlib.sha256(data).hexdigest() != description["sha256_of_state"]:
                raise _damaged(folder / _STATE)
            state = load(data, str(folder / _STATE), _trusted(detectors))
            for detector, learned in zip(detectors, state["detectors"], strict=True):
                detector.restore(learned)
            by = description["calibration"]["by"]
            form = detectors[1] if len(detectors) > 1 else None
            of_texts = {part: state[part] for part in ("known", "sketches", "sizes")}
            if "words" in state:  # older models have none
                of_texts["words"] = KnownWords(**state["words"])
            return Model(detectors[0], name, state["calibrations"], by, training, form, **of_texts)
    except ModelError:
        raise
    except AdbenchTextError as error:
        raise ModelError(f"The model in {folder} cannot be used: {error}") from error
    except Exception as error:  # a wrong description or state may cause any error
        raise _damaged(folder, f", or is of another version ({described(error):.200})") from error


def read_description(folder: Path) -> dict[str, Any]:
    """Return the content of ``model.json``; raise ModelError if it was changed or is of another format."""
    path, description = folder / _DESCRIPTION, _description(folder)
    number = description.get("format")
    if type(number) is not int:
        raise _damaged(path, f": format is {number!r:.40}")
    if number != FORMAT:
        advice = "update adbench-text" if number > FORMAT else "fit and save the model again"
        raise ModelError(
            f"{path} has format {number} (saved by {description.get('saved_by')!r:.60}), and "
            f"adbench-text {__version__} reads format {FORMAT}: {advice}."
        )
    if description.pop("sha256", None) != _digest(description):
        raise _damaged(path)
    return description


def _description(folder: Path) -> dict[str, Any]:
    """Return the content of ``model.json``; raise ModelError if it does not describe a model."""
    path = folder / _DESCRIPTION
    try:
        description = json.loads(_content(path))
    except (ValueError, RecursionError) as error:
        raise _damaged(path) from error
    if not isinstance(description, dict) or description.get("kind") != _KIND:
        raise ModelError(f"{path} does not describe a model of adbench-text; give the folder of a model.")
    return description


def _digest(description: Mapping[str, Any]) -> str:
    """Return the digest of a description. ``model.json`` contains it."""
    return hashlib.sha256(json.dumps(description).encode()).hexdigest()


def check_target(folder: Path, overwrite: bool) -> None:
    """Raise ModelError if a model must not be written to a folder."""
    is_empty = folder.is_dir() and not any(folder.iterdir())
    if is_empty or not (folder.exists() or folder.is_symlink()):
        return
    try:
        _description(folder)
    except ModelError as error:
        raise ModelError(f"{folder} exists and is not a model; choose another folder.") from error
    if not overwrite:
        raise ModelError(
            f"{folder} contains a model already; overwrite it (--overwrite) or choose another folder."
        )


def _files(model: Model) -> dict[str, bytes]:
    """Return the content of the files of a model, by name; the description comes last."""
    check_can_be_saved(model.name, model.detector)
    detectors = {model.name: model.detector} | ({} if model.form is None else {FORM: model.form})
    scores = {order: np.sort(check_scores(each, len(each))) for order, each in model.calibrations.items()}
    state = {
        "detectors": [detector.learned() for detector in detectors.values()],
        "calibrations": scores,
        "known": model.known,
        "sketches": model.sketches,
        "sizes": model.sizes,
        **({} if model.words is None else {"words": model.words._asdict()}),
    }
    data, plugins = dump(state, model.name, _trusted(detectors.values())), registry.plugins("detectors")
    description = {
        "kind": _KIND,
        "format": FORMAT,
        "saved_by": f"adbench-text {__version__}",
        "detectors": [
            {
                "name": name,
                "package": plugins[name].package,
                "settings": {
                    setting: own_file.without_folders(value) if isinstance(value, str) else value
                    for setting, value in detector.get_params().items()
                },
                "resources": _needed_resources(detector, model.training.options.get("probes", ())),
            }
            for name, detector in detectors.items()
        ],
        "calibration": {"by": model.calibrated_by, "n": len(model.calibration)},
        "training": asdict(model.training),
        "sha256_of_state": hashlib.sha256(data).hexdigest(),
    }
    try:
        description["sha256"] = _digest(description)
        text = json.dumps(description, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DetectorError(f"{model.name} cannot be saved: a setting is not a JSON value.") from error
    return {_STATE: data, _DESCRIPTION: text.encode()}


def check_can_be_saved(name: str, detector: TextDetector) -> None:
    """Raise InvalidValueError if a detector cannot be saved. Call it before fitting."""
    is_named = False
    with suppress(UnknownNameError):
        is_named = registry.detector(name) is type(detector)
    used = f"{name} {detector.get_params()}"  # an ensemble may have members from a file
    in_file = next((file for file in registry.loaded_files() if file in used), "")
    reasons = {
        "its scores are chosen by the test labels": detector.is_oracle,
        f"no model loads a file of code, put {in_file} into a package": bool(in_file),
        "it has no name to load it by; names: adbench-text list detectors": not is_named,
        UNSAVED: detector.trusted_types is None,
    }
    for reason, is_true in reasons.items():
        if is_true:
            can_be_named = is_named or in_file
            without = (
                f" To rank documents without a model: adbench-text odd -d {name}" if can_be_named else ""
            )
            raise InvalidValueError(f"{name} cannot be saved: {reason}.{without}")


def _trusted(detectors: Iterable[TextDetector]) -> frozenset[str]:
    """Return the classes that detectors trust."""
    return frozenset().union(*(detector.trusted_types or () for detector in detectors))


def _damaged(path: Path, reason: str = "") -> ModelError:
    return ModelError(
        f"{path} is damaged or was changed{reason}; get the model again, or fit and save it again."
    )


def _content(path: Path) -> bytes:
    if not path.is_file():  # a pipe would wait for a writer
        raise ModelError(
            f"There is no model at {path.parent}: {path.name} is missing or not a file. Give the folder of a "
            "model."
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror or error}.") from error


def _training(saved: Any, folder: Path) -> TrainingFacts:
    """Return the facts about the training documents; raise ModelError if one has a wrong type."""
    training = TrainingFacts(**saved)
    facts = {**saved["options"], **saved} if isinstance(training.options, dict) else saved
    for name, is_right in _KINDS.items():
        if name in facts and not is_right(facts[name]):
            raise _damaged(folder / _DESCRIPTION, f": {name} is {facts[name]!r:.40}")
    return training


def check_can_be_served(settings: Mapping[str, Any]) -> None:
    """Raise InvalidValueError if a model cannot be registered: a server has no file of code for it."""
    for file in own_file.written_in(settings):
        raise InvalidValueError(
            f"A model with the encoder {file!r} cannot be registered: it would need the file where it is "
            "served. Save it, and score with --encoder."
        )


def _check_files(folder: Path, detectors: Iterable[Mapping[str, Any]], encoder: str) -> None:
    """Raise ModelError unless the user gives exactly the files of code that a model needs."""
    needed = {file for detector in detectors for file in own_file.written_in(detector["settings"])}
    given = set(own_file.named(encoder).split(",")) if encoder else set()
    if not given <= needed or not needed <= own_file.known().keys():
        files = ",".join(f"./{file}" for file in sorted(needed))
        wanted = f"needs --encoder {files}, as for fit" if files else "needs no encoder in a file"
        raise ModelError(f"The model in {folder} {wanted}; got {encoder!r}.")


def _unfitted(detector: Mapping[str, Any], probes: Sequence[str]) -> TextDetector:
    """Return the detector of a model; raise ModelError if it is missing, or its resources changed."""
    try:
        kind = registry.detector(detector["name"])
    except UnknownNameError as error:
        raise ModelError(
            f"The model needs the detector {detector['name']!r} of the package {detector['package']!r}; "
            "install the version of it that saved the model."
        ) from error
    unfitted = kind(**detector["settings"])
    unfitted.check_params()
    _check_resources(unfitted, detector["name"], detector["resources"], probes)
    return unfitted


def _needed_resources(detector: TextDetector, probes: Sequence[str] = ()) -> dict[str, str]:
    """Return the resources of a detector that must be the same when it is loaded.

    The words in `probes` identify an encoder in a file.
    """
    for name in own_file.written_in(detector.get_params()):
        identify_by(own_file.without_folders(name), probes)
    found = detector.resources().items()
    return {name: value for name, value in found if name.rpartition(".")[2] not in _VERSIONS}


def _check_resources(
    detector: TextDetector, name: str, saved: Mapping[str, str], probes: Sequence[str]
) -> None:
    """Raise ModelError if a resource outside the folder is not the same as in training."""
    present, params = _needed_resources(detector, probes), detector.get_params()
    for resource in sorted({*saved, *present}):
        then, now = (found.get(resource, "none") for found in (saved, present))
        if not is_same(then, now):
            short = resource.rpartition(".")[2]
            setting = f" {params[short]!r}" if params.get(short) else ""
            raise ModelError(
                f"The model of {name} was fitted with {short}{setting} {then:.60}, but {short} is {now:.60} "
                "here. Restore the original (for a package, install that version), or fit and save the model "
                "again."
            )
