"""The options that choose the cells of a sweep, for ``run``, ``export`` and the file of a sweep."""

from typing import Any

from adbench_text.contract.protocols import PROTOCOLS
from adbench_text.corpora.split_key import AXES
from adbench_text.devices import DEVICES
from adbench_text.option import Option
from adbench_text.reading.options import READ_OPTIONS
from adbench_text.run.names import parse_seeds


def _axis(name: str, text: str, *, field: str, **settings: Any) -> Option:
    """Return the option for an axis of `SplitKey`; it takes several values."""
    return Option(name, text, field=field, kind=type(AXES[field].default), is_several=True, **settings)


#: Options for the user's documents: arguments of `ClassFiles`.
OF_FILES = (
    Option("text", "For files: column of the text.  [default: guessed]", is_several=True, metavar="COLUMN"),
    Option("label", "For files: column of the classes.  [default: label or class]", metavar="COLUMN"),
    Option("split", "For files: column with train or test.  [default: 70 % train]", metavar="COLUMN"),
    Option("odd-words", "For files: column with the [start, end] pairs of the odd words.", metavar="COLUMN"),
    Option("language", "For files: their language, such as de or pt-br.  [default: en]", metavar="TAG"),
)

#: Options that choose splits of datasets.
OF_SPLITS = (
    Option(
        "dataset",
        "Names, patterns such as '20*', or all; or documents with labels: files:PATH, hf:NAME.",
        field="datasets",
        short="-s",
        is_several=True,
        names="datasets",
    ),
    *OF_FILES,
    *READ_OPTIONS,
    Option("protocol", "How to split.  [default: chosen by the dataset]", choices=PROTOCOLS),
    Option(
        "inlier",
        "Inlier classes, or names of splits.  [default: each in turn]",
        field="inliers",
        is_several=True,
        names="inliers",
    ),
    Option(
        "contamination",
        "Shares of outliers in the training data, in [0, 0.5); with rank-all, in the test documents.  "
        "[default: given by the dataset, usually 0,0.05,0.1,0.15]",
        field="levels",
        kind=float,
        is_several=True,
        metavar="SHARES",
    ),
    _axis(
        "test-outliers",
        "Shares of outliers in the test set, in (0, 1]. Other outliers are dropped; 1 keeps all outliers.  "
        "[default: 1]",
        field="test_outliers",
        metavar="SHARES",
    ),
    _axis(
        "known-outliers",
        "Numbers of known outliers, such as 0,1,3,10,50. A detector may learn from these documents of other "
        "classes.  [default: 0]",
        field="known",
        least=0,
        metavar="NUMBERS",
    ),
    _axis(
        "known-from",
        "Classes of the known outliers.  [default: all other classes]",
        field="known_from",
        metavar="CLASSES",
    ),
    Option(
        "seed",
        "Seeds: a number, a list 0,2,5 or a range 0-4.  [default: 0]",
        field="seeds",
        kind=int,
        is_several=True,
        separate=parse_seeds,
        metavar="SEEDS",
    ),
    Option("limit", "Maximum number of documents per class, for a quick look.", kind=int, least=1),
)

ENCODER = Option(
    "encoder",
    "Short for --set encoder=...: a name, a path, or a function in a file, ./mine.py:embed.",
    names="encoders",
)
#: Options that are short for ``--set``.
SHORTHANDS = (
    ENCODER,
    Option("vectors", "Short for --set vectors=...: a name or a path.", names="vectors"),
    Option("device", "Short for --set device=...", choices=DEVICES),
)

#: Options that choose detectors.
OF_DETECTORS = (
    Option(
        "detector",
        "Names, patterns such as 'pyod-*', or all; llr:robust has a preset, ./mine.py:Mine is in a "
        "file. The detectors of a --sweep keep their presets and settings.",
        field="detectors",
        short="-d",
        is_several=True,
        names="detectors",
    ),
    Option("preset", "Preset of all detectors; see 'adbench-text info NAME'."),
    Option(
        "set",
        "Hyper-parameter of each detector that has it; -d 'NAME(KEY=VALUE)' sets it for one.",
        field="settings",
        is_several=True,
        metavar="KEY=VALUE",
    ),
    *SHORTHANDS,
)

#: All options of cells.
OF_CELLS = (*OF_SPLITS, *OF_DETECTORS)
