"""AG News: titles and descriptions of news articles in four classes."""

import csv

from adbench_text.contract.dataset import Dataset, Documents
from adbench_text.storage import RemoteFile

_FOLDER = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv"
#: Files with fewer than half of the training documents, from validation splits that others published.
_SAMPLE = "8b59482dd24e4c196e0b7eb5f1c6a3e0"


class AGNews(Dataset):
    """AG News as two CSV files of label, title and description."""

    name = "agnews"
    classes = ("world", "sports", "business", "sci")  # labels 1 to 4
    source = _FOLDER
    licence = "non-commercial use (the terms of the AG corpus of news articles)"
    citation = (
        "X. Zhang, J. Zhao, Y. LeCun: Character-level Convolutional Networks for Text Classification. "
        "NeurIPS 2015."
    )
    files = (
        RemoteFile(
            "agnews/train.csv",
            f"{_FOLDER}/train.csv",
            md5="b1a00f826fdfbd249f79597b59e1dc12",
            others=(_SAMPLE,),
        ),
        RemoteFile("agnews/test.csv", f"{_FOLDER}/test.csv", md5="d52ea96a97a2d943681189a97654912d"),
    )

    def read(self) -> tuple[Documents, Documents]:
        """Read both files."""
        train, test = map(_documents, self.files)
        return train, test


def _documents(file: RemoteFile) -> Documents:
    with file.fetch().open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    texts = [f"{title} {description}".strip() for _, title, description in rows]
    return Documents(texts, [int(label) - 1 for label, *_ in rows])
