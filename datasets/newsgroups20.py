"""20 Newsgroups: posts to newsgroups of the 1990s in six classes."""

import pickle
import tarfile
import zlib
from tempfile import TemporaryDirectory
from typing import Any

from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.storage import RemoteFile

_PAGE = "http://qwone.com/~jason/20Newsgroups/"

GROUPS = {
    "comp": (
        "comp.graphics",
        "comp.os.ms-windows.misc",
        "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware",
        "comp.windows.x",
    ),
    "rec": ("rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey"),
    "sci": ("sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    "misc": ("misc.forsale",),
    "pol": ("talk.politics.misc", "talk.politics.guns", "talk.politics.mideast"),
    "rel": ("talk.religion.misc", "alt.atheism", "soc.religion.christian"),
}


#: scikit-learn's copy is preferred to the archive. It is a pickle, and is loaded because its digest is known.
_COPY = RemoteFile(
    "20news/20news-bydate_py3.pkz",
    page=_PAGE,
    sha256="ce02b1fe27b957e1ee278523bce1d439df017564bc13ccbde020456fe0d22bc3",
)
_ARCHIVE = RemoteFile(
    "20news/20news-bydate.tar.gz",
    "https://ndownloader.figshare.com/files/5975967",
    sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)


def _bunches() -> dict[str, Any]:
    """Return both parts as scikit-learn reads them, in its order."""
    if _COPY.is_here:
        parts: dict[str, Any] = pickle.loads(zlib.decompress(_COPY.read_bytes()))
        return parts
    from sklearn.datasets import load_files

    with TemporaryDirectory() as folder, tarfile.open(_ARCHIVE.fetch()) as archive:
        # The first releases of Python 3.11 have no filter; the archive is safe because its digest is known.
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safely)
        return {
            part: load_files(f"{folder}/20news-bydate-{part}", encoding="latin1")
            for part in ("train", "test")
        }


def _body(post: str) -> str:
    """Return a post without its headers, signature and quotes."""
    from sklearn.datasets._twenty_newsgroups import (
        strip_newsgroup_footer,
        strip_newsgroup_header,
        strip_newsgroup_quoting,
    )

    return str(strip_newsgroup_quoting(strip_newsgroup_footer(strip_newsgroup_header(post))))


class Newsgroups20(Dataset):
    """20 Newsgroups "bydate", without headers, footers and quotes, as six classes."""

    name = "20news"
    classes = tuple(GROUPS)
    source = "sklearn.datasets.fetch_20newsgroups"
    licence = "public posts, collected by Ken Lang; no licence stated"
    citation = "K. Lang: NewsWeeder: Learning to Filter Netnews. ICML 1995."

    def edition(self) -> Edition:
        """Return ``published``."""
        file = _COPY if _COPY.is_here else _ARCHIVE
        file.fetch()
        return Edition("published", file.digest, is_published=True)

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts, without headers, footers and quotes."""
        label_of = {group: label for label, name in enumerate(self.classes) for group in GROUPS[name]}
        train, test = (
            Documents(texts, [label_of[group] for group in groups]) for texts, groups in self.posts()
        )
        return train, test

    def posts(self) -> list[tuple[list[str], list[str]]]:
        """Return the posts of both parts, without headers, footers and quotes, and their newsgroups."""
        parts = _bunches()
        return [
            ([_body(post) for post in part.data], [part.target_names[target] for target in part.target])
            for part in (parts["train"], parts["test"])
        ]
