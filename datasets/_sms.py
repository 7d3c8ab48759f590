"""The file of the SMS Spam Collection, which two benchmarks split in their own ways."""

from adbench_text.plugins.dataset import Edition
from adbench_text.storage import RemoteFile

FILE = RemoteFile(
    "sms/SMSSpamCollection",
    page="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",  # it offers the file in an archive
    sha256="7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
    # without the newline at its end
    others=("edc1f2ca36319ca36c6f80fede2f6ae5f81335289352485f3924df077ec20266",),
)
LICENCE = "CC BY 4.0"
CITATION = (
    "T. A. Almeida, J. M. G. Hidalgo, A. Yamakami: Contributions to the Study of SMS Spam Filtering: New "
    "Collection and Results. DocEng 2011."
)


def edition() -> Edition:
    """Return ``published``: with or without the newline at its end."""
    FILE.fetch()
    return Edition("published", FILE.sha256, is_published=True)


def messages() -> list[tuple[str, str]]:
    """Return kind (ham or spam) and text of the messages, in the order of the file."""
    lines = FILE.fetch().read_bytes().decode().removesuffix("\n").split("\n")
    return [(kind, text) for kind, _, text in (line.partition("\t") for line in lines)]
