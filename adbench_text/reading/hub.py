"""Read data sets of Hugging Face with its library ``datasets``, which runs no code of a data set.

``hf:NAME`` and ``hf:NAME:CONFIGURATION`` are on the Hub. ``save_to_disk`` wrote ``hf:./FOLDER``.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from adbench_text import storage
from adbench_text.errors import DataError, PluginError
from adbench_text.failures import message_of
from adbench_text.reading.batch import MOST_ROWS, Batch

HUB = "hf:"
FOLDERS = (f"{HUB}.", f"{HUB}/", f"{HUB}~")  # beginnings of paths of folders
_REVISION = re.compile("[0-9a-f]{40}")
_ADVICE = (
    "Check the name, and load it once where there is a network; if it is private or gated, get access and "
    "run: hf auth login. Or give hf:NAME:CONFIGURATION, a copy of save_to_disk as hf:./FOLDER, or files:PATH"
)


class HubData:
    """The rows of a data set. `classes` has the names of classes by column and number."""

    def __init__(self, path: str) -> None:
        self.name = path
        loaded = _load(path)
        self._splits = loaded if isinstance(loaded, dict) else {"train": loaded}
        first = next(iter(self._splits.values()))
        classes = {name: each for name, each in first.features.items() if hasattr(each, "int2str")}
        self.classes = {name: dict(enumerate(each.names)) for name, each in classes.items()}
        # the cache of the library has a folder for each revision
        folders = {Path(file["filename"]).parent.name for file in first.cache_files}
        self.notes = [f"revision {name} of the Hub" for name in folders if _REVISION.fullmatch(name)]

    def batches(self, only: Collection[str] | None = None) -> Iterator[Batch]:
        """Yield the rows of each split. A number without a class, such as -1, is a missing value."""
        for split, table in self._splits.items():
            columns = [name for name in table.column_names if only is None or name in only]
            number = 1
            for rows in table.select_columns(columns).with_format("arrow").iter(batch_size=MOST_ROWS):
                values: dict[str, Any] = {name: rows.column(name).combine_chunks() for name in columns}
                for name in self.classes.keys() & values.keys():
                    values[name] = [self.classes[name].get(each) for each in values[name].to_pylist()]
                numbers = range(number, number + len(rows))
                part = f"{self.name}, {split}"
                yield Batch(values, numbers, part=part, unit="row", split=split)
                number += len(rows)


def _load(path: str) -> Any:
    """Return the data set that ``hf:...`` names: one table, or a dict of splits.

    Raise PluginError without the library, DataError if the data set cannot be loaded.
    """
    try:
        datasets: Any = import_module("datasets")  # mypy would find the folder of our checkout
        load_dataset, load_from_disk, config = datasets.load_dataset, datasets.load_from_disk, datasets.config
        from huggingface_hub import get_session
    except (ImportError, AttributeError) as error:  # without the library, Python may import our folder
        install = "pip install 'adbench-text[hub]'"
        raise PluginError(f"{path} needs the package datasets; run: {install}") from error
    name, _, configuration = path.removeprefix(HUB).partition(":")
    try:
        if path.startswith(FOLDERS):
            storage.check_files(Path(path.removeprefix(HUB)).expanduser())
            return load_from_disk(path.removeprefix(HUB))
        is_off, config.HF_HUB_OFFLINE = config.HF_HUB_OFFLINE or storage.is_offline(), True
        with suppress(Exception):  # without a network, the library would retry for half a minute or longer
            if not is_off:
                get_session().head(config.HF_ENDPOINT, timeout=5)
                config.HF_HUB_OFFLINE = False
        return load_dataset(name, configuration or None)
    except DataError:
        raise
    except Exception as error:  # from the library, pyarrow or the system
        reason = message_of(error).partition(" Example of usage")[0].rstrip(".")
        raise DataError(f"{path} cannot be loaded: {reason}. {_ADVICE}") from error
