"""20 Newsgroups: posts to newsgroups of the 1990s in six classes."""

from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from adbench_text import storage
from adbench_text.corpus import Dataset, Documents, Edition
from adbench_text.errors import DataError

#: Digest over the sorted digests of all 18,846 posts with their newsgroups, as scikit-learn reads them.
PUBLISHED = "b4279433ee230f34c9a60f92b3791059ccaefac0456f5636696dbaef2066625e"

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


def _posts(part: str, remove: tuple[str, ...] = ()) -> Any:
    """Fetch one part through scikit-learn, which verifies the archive it downloads."""
    from sklearn.datasets import fetch_20newsgroups

    home = storage.data_dir() / "20news"
    file = home / "20news-bydate_py3.pkz"
    if not file.is_file() and storage.is_offline():
        raise DataError(
            f"{file} is missing and downloads are off. Copy it from another machine's scikit-learn data "
            "folder, or run without --offline."
        )
    known = file.is_file()
    try:
        return fetch_20newsgroups(
            data_home=home, subset=part, remove=remove, shuffle=False, download_if_missing=not known
        )
    except Exception as error:  # pickle and network errors of every kind
        reason = " ".join(str(error).split()) or type(error).__name__
        advice = (
            "The file is damaged or truncated: delete it and run adbench-text fetch 20news."
            if known
            else f"Copy 20news-bydate_py3.pkz from another machine's scikit-learn data folder to {home}."
        )
        raise DataError(f"Cannot read 20 Newsgroups from {file}: {reason}. {advice}") from error


class Newsgroups20(Dataset):
    """20 Newsgroups "bydate", without headers, footers and quotes, as six classes."""

    name: ClassVar[str] = "20news"
    classes: ClassVar[tuple[str, ...]] = tuple(GROUPS)
    source: ClassVar[str] = "sklearn.datasets.fetch_20newsgroups"
    licence: ClassVar[str] = "public posts, collected by Ken Lang; no licence stated"
    citation: ClassVar[str] = "K. Lang: NewsWeeder: Learning to Filter Netnews. ICML 1995."

    def edition(self) -> Edition:
        """Return ``published`` if all posts of both parts are the known ones."""
        digests = sorted(
            sha256(f"{part} {posts.target_names[target]} {text}".encode()).hexdigest()
            for part in ("train", "test")
            for posts in [_posts(part)]
            for text, target in zip(posts.data, posts.target, strict=True)
        )
        digest = sha256("".join(digests).encode()).hexdigest()
        if digest == PUBLISHED:
            return Edition("published", digest)
        return Edition(f"not the published posts: {len(digests):,} posts {digest[:8]}", digest)

    def read(self) -> tuple[Documents, Documents]:
        """Read both parts, without headers, footers and quotes."""
        return self._read("train"), self._read("test")

    def _read(self, part: str) -> Documents:
        posts = _posts(part, remove=("headers", "footers", "quotes"))
        class_of = {group: label for label, name in enumerate(self.classes) for group in GROUPS[name]}
        labels = [class_of[posts.target_names[target]] for target in posts.target]
        return Documents(posts.data, np.array(labels, dtype=np.int64))
