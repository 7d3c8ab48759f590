"""Saves a model in a folder, and loads it without executing anything of it.

The folder:

``model.json``            format and its version; versions of the libraries; name, package and settings of
                          the detector; its `state <adbench_text.models.state>`, as far as JSON has it;
                          digests of resources outside the folder, such as word vectors; how it was
                          calibrated, with thresholds; facts about the training documents; size and SHA-256
                          of every other file; shapes of the arrays
``arrays.safetensors``    all arrays, the calibration scores among them
``parts/<number>.skops``  fitted objects of scikit-learn

The training documents are not saved. Their words are, where a detector needs them. Some detectors also
need the word counts of each document (``knn-words``, ``llr`` with `batch_rounds`) or its vector (those of
PyOD that look for neighbours).

Resources outside the folder are not copied. They are found again as in training, and must have the
digest that they had then.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from adbench_text import __version__
from adbench_text.checks import check_shapes
from adbench_text.code_version import installed, libraries, minor
from adbench_text.errors import (
    AdbenchTextError,
    DetectorError,
    InvalidValueError,
    ModelError,
    PluginError,
    UnknownNameError,
)
from adbench_text.isolation import preserved
from adbench_text.models.model import Model, Training
from adbench_text.models.state import Writer, dump_part, load_part, read_state
from adbench_text.places import described
from adbench_text.plugins import registry
from adbench_text.plugins.detector import TextDetector
from adbench_text.plugins.scores import State
from adbench_text.text import pretrained, vectors

_FORMAT, _VERSION = "adbench-text model", 1
_DESCRIPTION, _ARRAYS, _PARTS = "model.json", "arrays.safetensors", "parts"
_FILE = re.compile(rf"{re.escape(_ARRAYS)}|{_PARTS}/(0|[1-9][0-9]{{0,3}})\.skops")
_MOST_JSON = 64 << 20  # bytes
_MOST = 16 << 30  # bytes of all other files together
_CALIBRATION = "calibration"
_OURS = "adbench-text"
_WHEELS = {
    vectors.WHEEL_DIGEST: vectors.WHEEL,
    **{wheel.digest: wheel for wheel in (pretrained.MINILM, pretrained.WORDLLAMA)},
}


def save(model: Model, folder: Path | str, *, overwrite: bool = False, training_scores: bool = True) -> Path:
    """Save a model in a folder; return the path of the folder.

    The folder is written beside its place and moved there when it is complete.

    Parameters
    ----------
    model : Model
    folder : path
    overwrite : bool, default False
        Whether an existing model in this folder is replaced.
    training_scores : bool, default True
        Whether the scores of the training documents are computed, if nothing has asked for them so far. A
        network takes long for it. Without them the loaded detector has no ``threshold_``, ``labels_``,
        ``predict`` and ``predict_proba``; its scores and the calibration are not concerned.

    Raises
    ------
    InvalidValueError
        If `model` is a detector, which has no calibration.
    DetectorError
        If the detector cannot be saved.
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
    files = _files(model, training_scores)
    try:
        with _replaced(folder) as temporary:
            for name, data in files.items():
                path = temporary / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
    except OSError as error:
        raise ModelError(
            f"Cannot write {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    return folder


def load(folder: Path | str) -> Model:
    """Load a model from a folder that `save` wrote; no code and no pickle in it is executed.

    A model that was saved with another version of a library loads with a warning.

    Raises
    ------
    ModelError
        If there is no model, it is damaged, or it needs something that is not installed.
    """
    folder = Path(folder).expanduser()
    description = read_description(folder)
    try:
        detector = description["detector"]
        name, settings = str(detector["name"]), dict(detector["settings"])
        package, needed = str(detector["package"]), dict(detector["resources"])
        saved_with = {str(key): str(value) for key, value in description["libraries"].items()}
        by, n_calibration = str(description["calibration"]["by"]), int(description["calibration"]["n"])
        state, shapes = description["state"], dict(description.get("shapes", {}))  # older models state none
        training = Training(**description["training"])
        files = {
            str(file): (int(facts["size"]), str(facts["sha256"]))
            for file, facts in description["files"].items()
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(folder / _DESCRIPTION) from error
    contents = _contents(folder, files)
    with preserved():
        fitted = _unfitted(name, package, settings, folder)
        _check_resources(fitted, name, needed)
        _check_libraries(name, saved_with)
        arrays = _arrays(folder / _ARRAYS, contents.pop(_ARRAYS))
        objects = {
            int(Path(file).stem): load_part(data, str(folder / file), fitted.trusted_types)
            for file, data in contents.items()
        }
        try:
            scores = arrays[_CALIBRATION]
            _check_calibration(scores)
            check_shapes(arrays, **{_CALIBRATION: str(n_calibration), **shapes})
            read = read_state(state, arrays, objects)
            _check_lengths(read, training)
            fitted.restore_fitted(read)
        except ModelError:
            raise
        except Exception as error:  # what a detector does with a wrong state is unknown
            raise ModelError(
                f"The state of {name} in {folder} cannot be used ({described(error):.200}); "
                "fit and save it again."
            ) from error
    return Model(fitted, name, scores, by, training)


def read_description(folder: Path) -> dict[str, Any]:
    """Return the content of ``model.json``; raise ModelError if it is damaged or of a newer format."""
    path = folder / _DESCRIPTION
    if not path.is_file():
        raise ModelError(
            f"There is no model at {folder}: it has no file {_DESCRIPTION}. Give the folder of a model."
        )
    try:
        if path.stat().st_size > _MOST_JSON:
            raise _damaged(path)
        description = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path) from error
    if not isinstance(description, dict) or description.get("format") != _FORMAT:
        raise ModelError(f"{path} does not describe a model of adbench-text; give the folder of a model.")
    number = description.get("version")
    if not isinstance(number, int) or number < 1:
        raise _damaged(path)
    if number > _VERSION:
        raise ModelError(
            f"{path} has format {number}, but this version of adbench-text reads formats up to {_VERSION}; "
            "run: pip install --upgrade adbench-text"
        )
    return description


def packages_of(name: str, resources: Mapping[str, str]) -> list[str]:
    """Return the packages besides ours that contain a detector and its resources.

    Word vectors and encoders are known by their digests, wherever they were found. A file of the user is in
    no package.
    """
    package = _package_of(name)
    digests = [value.partition("-")[0] for value in resources.values()]  # settings may follow it
    wheels = [_WHEELS[digest] for digest in dict.fromkeys(digests) if digest in _WHEELS]
    return ([] if package == _OURS else [package]) + [wheel.package for wheel in wheels]


def check_target(folder: Path, overwrite: bool) -> None:
    """Raise ModelError if a folder must not be written."""
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_dir() and not any(folder.iterdir()):
        return
    try:
        read_description(folder)
    except ModelError as error:
        raise ModelError(f"{folder} exists and is not a model; choose another folder.") from error
    if not overwrite:
        raise ModelError(
            f"{folder} contains a model already; overwrite it (--overwrite) or choose another folder."
        )


def _files(model: Model, training_scores: bool) -> dict[str, bytes]:
    """Return the content of each file of a model, by its path in the folder; the description is the last."""
    detector = model.detector
    if detector.is_oracle:
        raise DetectorError(f"{model.name} cannot be saved: its scores are chosen by the test labels.")
    writer = Writer()
    fitted = detector.fitted_state(training_scores)
    try:
        _check_lengths(fitted, model.training)
    except InvalidValueError as error:
        raise DetectorError(f"{model.name} cannot be saved: {error}") from error
    state = writer.write(fitted, "state")
    scores = np.sort(np.asarray(model.calibration, dtype=np.float64))
    _check_calibration(scores)
    writer.arrays[_CALIBRATION] = scores
    files = {_ARRAYS: safetensors.save(writer.arrays)}
    for number, value in enumerate(writer.parts):
        files[f"{_PARTS}/{number}.skops"] = dump_part(value, model.name, detector.trusted_types)
    description = {
        "format": _FORMAT,
        "version": _VERSION,
        "libraries": _used_libraries(detector),
        "detector": {
            "name": model.name,
            "package": _package_of(model.name),
            "settings": _settings(model),
            "resources": detector.needed_resources(),
        },
        "calibration": {"by": model.calibrated_by, "n": len(scores), "thresholds": model.thresholds()},
        "training": asdict(model.training),
        "files": {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        },
        "shapes": {name: " ".join(map(str, array.shape)) for name, array in writer.arrays.items()},
        "state": state,
    }
    files[_DESCRIPTION] = json.dumps(description, indent=1, allow_nan=False).encode()
    return files


def _settings(model: Model) -> dict[str, Any]:
    """Return the settings of a detector; those that JSON does not have must be the default ones."""
    defaults = type(model.detector).default_params()
    settings = {}
    for name, value in model.detector.get_params().items():
        if _is_json(value):
            settings[name] = value
        elif value is not defaults.get(name) and repr(value) != repr(defaults.get(name)):
            raise DetectorError(
                f"{model.name} cannot be saved: its setting {name}={value!r} is no JSON value."
            )
    return settings


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False


def _check_calibration(scores: NDArray[Any]) -> None:
    if scores.dtype != np.float64 or scores.ndim != 1 or not len(scores) or not np.isfinite(scores).all():
        raise ModelError("The calibration scores of a model must be finite numbers, at least one.")
    if (np.diff(scores) < 0).any():
        raise ModelError("The calibration scores of a model must be in ascending order.")


def _check_lengths(state: State, training: Training) -> None:
    """Raise InvalidValueError unless there is a value for each training document."""
    names = [name for name in ("kept", "training_scores") if state[name] is not None]
    check_shapes(state, **dict.fromkeys(names, str(training.n_documents)))


@contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside `folder`; move it there if the block succeeds."""
    target = folder.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:40]}-"))
    new, old = temporary / "new", temporary / "old"
    try:
        new.mkdir()
        yield new
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _damaged(path: Path) -> ModelError:
    return ModelError(f"{path} is damaged or was changed; get the model again, or fit and save it again.")


def _contents(folder: Path, files: Mapping[str, tuple[int, str]]) -> dict[str, bytes]:
    """Return the content of files that have this size and digest; no path leaves the folder."""
    for name in files:
        if not _FILE.fullmatch(name):
            raise ModelError(
                f"{folder / _DESCRIPTION} names the file {name!r}, which no model has; it was not read."
            )
    if _ARRAYS not in files or sum(size for size, _ in files.values()) > _MOST:
        raise _damaged(folder / _DESCRIPTION)
    return {name: _content(folder, name, *facts) for name, facts in files.items()}


def _content(folder: Path, name: str, size: int, sha256: str) -> bytes:
    path = folder / name
    try:
        if not path.resolve(strict=True).is_relative_to(folder.resolve()):
            raise ModelError(f"{path} is a link that leaves the folder of the model; it was not read.")
        with open(path, "rb", opener=_open_at_once) as stream:
            facts = os.fstat(stream.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size != size:
                raise _damaged(path)
            data = stream.read(size + 1)
    except FileNotFoundError as error:
        raise ModelError(f"{path} is missing; get the model again, or fit and save it again.") from error
    except OSError as error:
        raise ModelError(f"Cannot read {path}: {error.strerror or error}.") from error
    if len(data) != size or hashlib.sha256(data).hexdigest() != sha256:
        raise _damaged(path)
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe, which somebody may have put in its place, does not wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _arrays(path: Path, data: bytes) -> dict[str, NDArray[Any]]:
    try:
        # copies: the arrays of a fitted detector can be written
        return {name: array.copy() for name, array in safetensors.load(data).items()}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path) from error


def _package_of(name: str) -> str:
    """Return the package that a detector comes from."""
    plugin = registry.plugins("detectors").get(name)
    return plugin.package if plugin else _OURS


def _unfitted(name: str, package: str, settings: dict[str, Any], folder: Path) -> TextDetector:
    """Return the detector of a model; raise ModelError if it is not installed, or has other settings."""
    try:
        kind = registry.detector(name)
    except UnknownNameError as error:
        if package == _OURS:
            raise ModelError(
                f"The model needs the detector {name!r}, which adbench-text {__version__} does not have; "
                "use the version that saved the model."
            ) from error
        raise ModelError(
            f"The model needs the detector {name!r} of the package {package!r}, which is not installed; "
            f"install {package}."
        ) from error
    except PluginError as error:
        raise ModelError(f"The model needs the detector {name!r}: {error}") from error
    try:
        return kind(**settings)
    except Exception as error:  # a setting of another version, or any error of a plug-in
        raise ModelError(
            f"{folder / _DESCRIPTION} has settings that {name} does not take ({described(error):.200}); "
            "use the version that saved the model, or fit and save it again."
        ) from error


def _used_libraries(detector: TextDetector) -> dict[str, str]:
    """Return the versions of this package, and of the libraries that a detector computes with."""
    listed = [libraries(type(detector), detector.implementation)]
    # members of a detector that is made of others list theirs as resources
    listed += [text for name, text in detector.resources().items() if name.endswith(".libraries")]
    names = {entry.partition(" ")[0] for text in listed for entry in text.split(", ") if entry}
    return {_OURS: __version__} | {name: installed(name) for name in sorted(names)}


def _check_libraries(name: str, saved_with: Mapping[str, str]) -> None:
    """Warn once if a library is of another release than when the model was saved; patches do not count."""
    changed = [
        f"{library} {then} (now {now or 'not installed'})"
        for library, then in saved_with.items()
        if minor(now := installed(library)) != minor(then)
    ]
    if changed:
        warnings.warn(
            f"The model of {name} was saved with {', '.join(changed)}; its scores may differ.", stacklevel=3
        )


def _check_resources(detector: TextDetector, name: str, saved: Mapping[str, str]) -> None:
    """Raise ModelError if a resource outside the folder is missing or is not that of the training."""
    try:
        present = detector.needed_resources()
    except AdbenchTextError as error:
        raise ModelError(
            f"The model of {name} needs a resource that is not in the folder: {error}"
        ) from error
    except Exception as error:  # a setting of the wrong type, or any error of a plug-in
        raise ModelError(f"The resources of {name} cannot be found: {described(error)}") from error
    for resource in sorted({*saved, *present}):
        then, now = (digests.get(resource, "none") for digests in (saved, present))
        if then == now:
            continue
        short = resource.rpartition(".")[2]
        if installed(short):  # a resource that is a package, such as a list of words
            raise ModelError(
                f"The model of {name} was fitted with {short} {then}, but {short} {now} is installed; "
                f"run: pip install {short}=={then}"
            )
        setting = detector.get_params().get(short)
        raise ModelError(
            f"The model of {name} needs the {short}{f' {setting!r}' if setting else ''} with digest {then}, "
            f"but its digest is {now}. Put the original file in its place, or fit and save the model again."
        )
