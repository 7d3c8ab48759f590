"""What a model needs outside its folder: the plug-in of its detector, libraries, and resources."""

import warnings
from collections.abc import Mapping

from adbench_text import __version__
from adbench_text.code_version import installed, libraries, minor
from adbench_text.errors import AdbenchTextError, ModelError, PluginError, UnknownNameError
from adbench_text.places import described
from adbench_text.plugins import registry
from adbench_text.plugins.detector import TextDetector
from adbench_text.text import glove_wheel, pretrained
from adbench_text.text.wheels import digest_of

_WHEELS = {
    glove_wheel.DIGEST: glove_wheel.WHEEL,
    **{digest_of(wheel.sha256): wheel for wheel in (pretrained.MINILM, pretrained.WORDLLAMA)},
}
_OURS = "adbench-text"
_FROM = "from "  # how the registry describes the plug-in of another package


def package_of(name: str) -> str:
    """Return the package that a detector comes from."""
    plugin = registry.plugins("detectors").get(name)
    return plugin.summary.removeprefix(_FROM) if plugin and plugin.is_foreign else _OURS


def packages_of(name: str, resources: Mapping[str, str]) -> list[str]:
    """Return the packages besides ours that contain a detector and its resources.

    Word vectors and encoders are known by their digests, wherever they were found. A file of the user is in
    no package.
    """
    package = package_of(name)
    wheels = [_WHEELS[digest] for digest in dict.fromkeys(resources.values()) if digest in _WHEELS]
    return ([] if package == _OURS else [package]) + [wheel.package for wheel in wheels]


def find_detector(name: str, package: str) -> type[TextDetector]:
    """Return the class of a saved detector.

    Raises
    ------
    ModelError
        If it is not installed.
    """
    try:
        return registry.detector(name)
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


def used_libraries(detector: TextDetector) -> dict[str, str]:
    """Return the versions of this package, and of the libraries that a detector computes with."""
    listed = [libraries(type(detector), detector.implementation)]
    # members of a detector that is made of others list theirs as resources
    listed += [text for name, text in detector.resources().items() if name.endswith(".libraries")]
    names = {entry.partition(" ")[0] for text in listed for entry in text.split(", ") if entry}
    return {_OURS: __version__} | {name: installed(name) for name in sorted(names)}


def check_libraries(name: str, saved: Mapping[str, str]) -> None:
    """Warn once if a library is of another release than when the model was saved; patches do not count."""
    changed = [
        f"{library} {then} (now {now or 'not installed'})"
        for library, then in saved.items()
        if minor(now := installed(library)) != minor(then)
    ]
    if changed:
        warnings.warn(
            f"The model of {name} was saved with {', '.join(changed)}; its scores may differ.", stacklevel=4
        )


def check_resources(detector: TextDetector, name: str, saved: Mapping[str, str]) -> None:
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
        if then != now:
            raise ModelError(_advice(detector, name, resource, then, now))


def _advice(detector: TextDetector, name: str, resource: str, then: str, now: str) -> str:
    short = resource.rpartition(".")[2]
    if installed(short):  # a resource that is a package, such as a list of words
        return (
            f"The model of {name} was fitted with {short} {then}, but {short} {now} is installed; "
            f"run: pip install {short}=={then}"
        )
    setting = detector.get_params().get(short)
    return (
        f"The model of {name} needs the {short}{f' {setting!r}' if setting else ''} with digest {then}, "
        f"but its digest is {now}. Put the original file in its place, or fit and save the model again."
    )
