"""The SMS Spam Collection, which two benchmarks split differently."""

from adbench_text.contract.dataset import Dataset, Edition
from adbench_text.storage import RemoteFile

CITATION = (
    "T. A. Almeida, J. M. G. Hidalgo, A. Yamakami: Contributions to the Study of SMS Spam Filtering: New "
    "Collection and Results. DocEng 2011."
)


class SpamCollection(Dataset):
    """A split of the SMS Spam Collection."""

    source = "https://archive.ics.uci.edu/dataset/228/sms+spam+collection"  # it has the file in an archive
    licence = "CC BY 4.0"
    files = (
        RemoteFile(
            "sms/SMSSpamCollection",
            page=source,
            sha256="7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d",
            # without the newline at its end
            others=("edc1f2ca36319ca36c6f80fede2f6ae5f81335289352485f3924df077ec20266",),
        ),
    )

    def edition(self) -> Edition:
        """Return ``published``: with or without the newline at its end."""
        self.files[0].fetch()
        return Edition("published", self.files[0].sha256, is_published=True)

    def messages(self) -> list[tuple[str, str]]:
        """Return the kind (ham or spam) and the text of each message, in the order of the file."""
        lines = self.files[0].fetch().read_bytes().decode().removesuffix("\n").split("\n")
        return [(kind, text) for kind, _, text in (line.partition("\t") for line in lines)]
