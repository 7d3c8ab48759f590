"""20 Newsgroups: posts to newsgroups of the 1990s in six classes."""

import zlib
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from adbench_text import storage
from adbench_text.datasets import _pickles
from adbench_text.errors import DataError
from adbench_text.places import message_of
from adbench_text.plugins.dataset import Dataset, Documents, Edition

#: Digest over the sorted digests of all 18,846 posts with their newsgroups, as scikit-learn reads them.
PUBLISHED = "b4279433ee230f34c9a60f92b3791059ccaefac0456f5636696dbaef2066625e"

#: scikit-learn's file of them, as published; another pickle of the same posts is recognised by its content.
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
        raise DataError(
            f"Could not download 20 Newsgroups: {message_of(error) or type(error).__name__}. "
            f"Copy {file.name} from another machine's scikit-learn data folder to {file.parent}."
        ) from error
    return file


# the class of scikit-learn's dictionaries
_BUNCHES = {("sklearn.utils._bunch", "Bunch"), ("sklearn.utils", "Bunch")}  # the second before 1.2


def _unpickled(file: Path) -> Any:
    """Return the content of a zlib-compressed pickle, with a limit on the memory that it takes."""
    most = _pickles.MOST_BYTES
    with file.open("rb") as stream:
        packed = stream.read(most + 1)
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(packed, most + 1)
    if len(data) > most or len(packed) > most:
        raise ValueError(f"unpacked it has more than {most // 2**20} MiB")
    if not unpacking.eof:
        raise ValueError("it ends too early")
    return _pickles.unpickled(data, _BUNCHES)


def _posts(part: str) -> tuple[list[str], list[str]]:
    """Return the posts of one part and the newsgroup of each."""
    file = _file()
    with storage.reading(file, "20news"):
        posts = _unpickled(file)[part]
        texts, groups = _pickles.texts_of(posts["data"]), _pickles.texts_of(posts["target_names"])
        targets = _pickles.values_of(posts["target"], int)
        if len(texts) != len(targets) or not 0 <= min(targets) <= max(targets) < len(groups):
            raise ValueError("posts and newsgroups do not fit together")
    return texts, [groups[target] for target in targets]


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

    name: ClassVar[str] = "20news"
    classes: ClassVar[tuple[str, ...]] = tuple(GROUPS)
    source: ClassVar[str] = "sklearn.datasets.fetch_20newsgroups"
    licence: ClassVar[str] = "public posts, collected by Ken Lang; no licence stated"
    citation: ClassVar[str] = "K. Lang: NewsWeeder: Learning to Filter Netnews. ICML 1995."

    def edition(self) -> Edition:
        """Return ``published`` if all posts of both parts are the published ones."""
        if storage.file_digest(_file()) == PUBLISHED_FILE:
            return Edition("published", PUBLISHED, is_published=True)
        digests = sorted(
            sha256(f"{part} {group} {text}".encode()).hexdigest()
            for part in ("train", "test")
            for text, group in zip(*_posts(part), strict=True)
        )
        digest = sha256("".join(digests).encode()).hexdigest()
        if digest == PUBLISHED:
            return Edition("published", digest, is_published=True)
        return Edition(f"not the published posts: {len(digests):,} posts {digest[:8]}", digest)

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts, without headers, footers and quotes."""
        return self._read("train"), self._read("test")

    def posts(self, part: str) -> tuple[list[str], list[str]]:
        """Return the posts of one part, without headers, footers and quotes, and the newsgroup of each."""
        posts, groups = _posts(part)
        if unknown := set(groups).difference(*GROUPS.values()):
            raise DataError(f"{_file()} has posts of an unknown newsgroup: {min(unknown)}.")
        return [_body(post) for post in posts], groups

    def _read(self, part: str) -> Documents:
        texts, groups = self.posts(part)
        label_of = {group: label for label, name in enumerate(self.classes) for group in GROUPS[name]}
        return Documents(texts, np.array([label_of[group] for group in groups], dtype=np.int64))
