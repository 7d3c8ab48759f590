"""AG News: titles and descriptions of news articles in four classes."""

import csv
from pathlib import Path
from typing import ClassVar

import numpy as np

from adbench_text.errors import DataError
from adbench_text.plugins.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile

_FOLDER = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv"
_LABELS = ("1", "2", "3", "4")
_LONGEST = 100_000  # characters of a field; without its closing quote, one would reach to the end of the file


class AGNews(Dataset):
    """AG News as two CSV files of label, title and description."""

    name: ClassVar[str] = "agnews"
    classes: ClassVar[tuple[str, ...]] = ("world", "sports", "business", "sci")  # _LABELS, in this order
    source: ClassVar[str] = _FOLDER
    licence: ClassVar[str] = "non-commercial use (the terms of the AG corpus of news articles)"
    citation: ClassVar[str] = (
        "X. Zhang, J. Zhao, Y. LeCun: Character-level Convolutional Networks for Text Classification. "
        "NeurIPS 2015."
    )
    train_file: ClassVar[RemoteFile] = RemoteFile(
        "agnews/train.csv", f"{_FOLDER}/train.csv", md5="b1a00f826fdfbd249f79597b59e1dc12"
    )
    test_file: ClassVar[RemoteFile] = RemoteFile(
        "agnews/test.csv", f"{_FOLDER}/test.csv", md5="d52ea96a97a2d943681189a97654912d"
    )

    def edition(self) -> Edition:
        """Return ``published`` if both files are the published ones, otherwise a list of the others."""
        return Edition.of_files(self.train_file, self.test_file)

    def read(self) -> tuple[Documents, Documents]:
        """Read both files; raise DataError at the first row that is not label, title, description."""
        return self._read(self.train_file.fetch()), self._read(self.test_file.fetch())

    def _read(self, path: Path) -> Documents:
        texts, labels = [], []
        with path.open(newline="", encoding="utf-8-sig") as stream:
            csv.field_size_limit(_LONGEST)  # of the process: documents of a user may be longer
            rows = csv.reader(stream, strict=True)
            try:
                for row in rows:
                    label, title, description = row
                    if label not in _LABELS:
                        raise ValueError(f"the label is {label!r:.40}")
                    if "\0" in title + description:
                        raise ValueError("there is a NUL byte")
                    labels.append(_LABELS.index(label))
                    texts.append(f"{title} {description}".strip())
            except (ValueError, csv.Error) as error:
                raise DataError(
                    f"{path}, line {rows.line_num}: expected a label from 1 to 4, a title and a description "
                    f"({error}). The file is damaged or truncated: delete it and run "
                    f"adbench-text fetch {self.name}."
                ) from error
        return Documents(texts, np.array(labels, dtype=np.int64))
