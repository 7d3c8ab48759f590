"""The file of the SMS Spam Collection, which two benchmarks split in their own ways.

`dataset` is everywhere the name of the dataset that asks, for the remedy of an error.
"""

from hashlib import sha256

from adbench_text.plugins.dataset import Edition
from adbench_text.storage import RemoteFile, reading

FILE = RemoteFile(
    "sms/SMSSpamCollection",
    page="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",  # it offers the file in an archive
    sha256="7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
)
LICENCE = "CC BY 4.0"
CITATION = (
    "T. A. Almeida, J. M. G. Hidalgo, A. Yamakami: Contributions to the Study of SMS Spam Filtering: New "
    "Collection and Results. DocEng 2011."
)

_MOST_BYTES = 16 * 2**20  # the published file has 478 kB


def edition(dataset: str) -> Edition:
    """Return ``published`` if the file is the published one, with or without the newline at its end."""
    digest = sha256(_content(dataset) + b"\n").hexdigest()
    if digest == FILE.sha256:
        return Edition("published", digest, is_published=True)
    return Edition(f"not the published file: SMSSpamCollection {digest[:8]}", digest)


def messages(dataset: str) -> list[tuple[str, str]]:
    """Return kind (ham or spam) and text of the messages, in the order of the file."""
    with reading(FILE.local, dataset):
        found = []
        for number, line in enumerate(_content(dataset).decode().split("\n"), 1):
            kind, tab, text = line.partition("\t")
            if kind not in ("ham", "spam") or not tab:
                raise ValueError(f"line {number} must be ham or spam, a tab and a text, got {line!r:.40}")
            found.append((kind, text))
    return found


def _content(dataset: str) -> bytes:
    """Return the content of the file, without a newline at its end."""
    path = FILE.fetch()
    with reading(path, dataset):
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES // 2**20} MiB")
    return content.removesuffix(b"\n")
