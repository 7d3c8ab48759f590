"""Let detectors look up resources for a corpus, and identify everything that determines their results."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from threading import Timer
from types import MappingProxyType

from adbench_text.contract.detector import TextDetector
from adbench_text.corpora.corpus import Corpus
from adbench_text.errors import PluginError
from adbench_text.failures import as_plugin_error
from adbench_text.isolation import preserved
from adbench_text.plugins import registry
from adbench_text.plugins.configure import english_knowledge, presets
from adbench_text.plugins.declared import declared
from adbench_text.plugins.foreign import SIGN_NOTE, SIGN_RESOURCE
from adbench_text.run.cell import Cell
from adbench_text.run.definition import build_detector, definition, identified
from adbench_text.run.progress import Progress
from adbench_text.run.result import Result
from adbench_text.run.sweep import Configuration
from adbench_text.text.own_encoder import unidentified
from adbench_text.text.pretrained import caching

_PATIENCE = 2.0  # seconds until a user gets a notice of a slow preparation
_SILENT = Progress()


@preserved()
def prepare(
    cells: Sequence[Cell],
    corpora: Mapping[str, Corpus],
    progress: Progress = _SILENT,
    built: Mapping[Configuration, TextDetector] = MappingProxyType({}),
) -> tuple[dict[Cell, dict[str, str]], list[Result]]:
    """Let each configuration look up vectors or word pieces of complete corpora before the first cell runs.

    Return the definition of each cell. If a detector cannot be identified, the store cannot distinguish its
    cells, so return failed results for them. `built` has the detectors of `Sweep.built`; build the others
    here.
    """
    configured: dict[Configuration, list[Cell]] = defaultdict(list)
    for cell in cells:
        configured[cell.detector, cell.configuration].append(cell)
    definitions: dict[Cell, dict[str, str]] = {}
    reasons: dict[Cell, str] = {}
    noted: set[str] = set()
    unlabelled: dict[str, None] = {}
    for configuration, of_configuration in configured.items():
        first = of_configuration[0]
        identities = {}
        try:
            detector = built[configuration] if configuration in built else build_detector(first)
            for name in dict.fromkeys(cell.split.dataset for cell in of_configuration):
                presets(registry.detector(first.detector), name)  # `Sweep.expand` leaves their errors to here
                _prepare(detector, first.name, corpora[name], progress)
                known = declared(detector, first.detector)  # this corpus identifies an encoder in a file
                identities[name] = identified(known, first)
        except PluginError as error:
            if str(error) not in reasons.values():
                progress.message(f"failed: {first} and its other splits: {error}", "error")
            reasons |= dict.fromkeys(of_configuration, str(error))
            continue
        if not known.takes_labels and any(cell.split.known for cell in of_configuration):
            unlabelled[first.detector] = None
        notes = {f"{first.detector}: {note}" for identity in identities.values() for note in _notes(identity)}
        for note in sorted(notes - noted):
            progress.message(note)
        noted |= notes
        definitions |= {
            cell: definition(cell, corpora[cell.split.dataset], identities[cell.split.dataset])
            for cell in of_configuration
        }
    if unlabelled:
        progress.message(f"without known outliers, from which they learn nothing: {', '.join(unlabelled)}")
    failed = [Result(cell, time.time(), {}, reason=reasons[cell]) for cell in cells if cell in reasons]
    return {cell: definitions[cell] for cell in cells if cell in definitions}, failed


def _notes(identity: Mapping[str, str]) -> Iterator[str]:
    """Yield notes for the user on an identified detector."""
    for name, value in identity.items():
        # resource.sign; for the second member of an ensemble, resource.member2.sign
        if name.startswith("resource.") and name.endswith(f".{SIGN_RESOURCE}"):
            yield SIGN_NOTE
        if reason := unidentified(value):
            yield f"its encoder {reason}, so no vectors are kept, and its cells run each time"


def _prepare(detector: TextDetector, name: str, corpus: Corpus, progress: Progress) -> None:
    """Let a detector look up resources for a corpus, and warn if its knowledge is of another language.

    An error in the code of the detector is only printed, because the detector may not need the resources. If
    it does, its cells fail. An error of this package ends the sweep, because the user can do something about
    it: for example, word vectors are missing.
    """
    notice = f"preparing the documents of {corpus.name} for {name}, once; this may take minutes"
    timer = Timer(_PATIENCE, progress.message, [notice])
    timer.start()
    try:
        with (
            caching(),
            as_plugin_error(f"{name} cannot be prepared", detector.implementation.__module__),
        ):
            documents = corpus.raw if detector.reads_raw else corpus
            detector.prepare([*documents.train.texts, *documents.test.texts])
            if corpus.language != "en" and (english := english_knowledge(detector)):
                known, language = " and ".join(english), corpus.language
                progress.message(f"the {known} of {name} are English; {corpus.name} is in {language!r}")
    except PluginError as error:
        progress.message(f"{error}", "error")
    finally:
        timer.cancel()
