"""20 Newsgroups: posts to newsgroups of the 1990s in six classes."""

from contextlib import redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np

from adbench_text import storage
from adbench_text.corpus import Dataset, Documents, Edition
from adbench_text.errors import DataError

#: Digest over the sorted digests of all 18,846 posts with their newsgroups, as scikit-learn reads them.
PUBLISHED = "b4279433ee230f34c9a60f92b3791059ccaefac0456f5636696dbaef2066625e"

#: scikit-learn's file of them, as it is known; another pickle of the same posts is told by its content.
PUBLISHED_FILE = "ce02b1fe27b957e1ee278523bce1d439df017564bc13ccbde020456fe0d22bc3"

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


def _file() -> Path:
    """Return scikit-learn's file of all posts; download it first if it is not there."""
    file = storage.data_dir() / "20news" / "20news-bydate_py3.pkz"
    if storage.is_file(file):
        return file
    if storage.is_offline():
        raise DataError(
            f"{file} is missing and downloads are off. Copy it from another machine's scikit-learn data "
            "folder, or run without --offline."
        )
    from sklearn.datasets import fetch_20newsgroups

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # in a folder of its own, because scikit-learn leaves there what it could not finish
        with TemporaryDirectory(dir=file.parent, prefix=".download-") as folder:
            fetch_20newsgroups(data_home=folder)  # verifies the archive it downloads
            (Path(folder) / file.name).replace(file)
    except Exception as error:  # of the network, the disk or the archive
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(
            f"Could not download 20 Newsgroups: {reason}. "
            f"Copy {file.name} from another machine's scikit-learn data folder to {file.parent}."
        ) from error
    return file


def _posts(part: str, remove: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    """Return the posts of one part and the newsgroup of each."""
    from sklearn.datasets import fetch_20newsgroups

    file = _file()
    printed = StringIO()
    try:
        with redirect_stdout(printed):  # it prints why it cannot read the file
            posts = fetch_20newsgroups(
                data_home=file.parent, subset=part, remove=remove, shuffle=False, download_if_missing=False
            )
        return posts.data, [posts.target_names[target] for target in posts.target]
    except Exception as error:  # a pickle can fail in every way
        reason = (printed.getvalue().split("\n")[3:4] or [str(error)])[0] or type(error).__name__
        raise DataError(
            f"Cannot read {file}: {reason}. The file is damaged or truncated: delete it and run "
            "adbench-text fetch 20news."
        ) from error


class Newsgroups20(Dataset):
    """20 Newsgroups "bydate", without headers, footers and quotes, as six classes."""

    name: ClassVar[str] = "20news"
    classes: ClassVar[tuple[str, ...]] = tuple(GROUPS)
    source: ClassVar[str] = "sklearn.datasets.fetch_20newsgroups"
    licence: ClassVar[str] = "public posts, collected by Ken Lang; no licence stated"
    citation: ClassVar[str] = "K. Lang: NewsWeeder: Learning to Filter Netnews. ICML 1995."

    def edition(self) -> Edition:
        """Return ``published`` if all posts of both parts are the known ones."""
        if storage.file_digest(_file()) == PUBLISHED_FILE:
            return Edition("published", PUBLISHED)
        digests = sorted(
            sha256(f"{part} {group} {text}".encode()).hexdigest()
            for part in ("train", "test")
            for text, group in zip(*_posts(part), strict=True)
        )
        digest = sha256("".join(digests).encode()).hexdigest()
        if digest == PUBLISHED:
            return Edition("published", digest)
        return Edition(f"not the published posts: {len(digests):,} posts {digest[:8]}", digest)

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts, without headers, footers and quotes."""
        return self._read("train"), self._read("test")

    def _read(self, part: str) -> Documents:
        texts, groups = _posts(part, remove=("headers", "footers", "quotes"))
        label_of = {group: label for label, name in enumerate(self.classes) for group in GROUPS[name]}
        if unknown := set(groups) - label_of.keys():
            raise DataError(f"{_file()} has posts of an unknown newsgroup: {min(unknown)}.")
        return Documents(texts, np.array([label_of[group] for group in groups], dtype=np.int64))
