"""Texts that a language model wrote, as in fast-detect:xsum-gpt-4; fast-detect is fast-detect:xsum-gpt-4.

Each file has 150 pairs. A model has continued the opening of a human text: about 24 words of a news article
(XSum), or a question on medicine (PubMed). The human texts of one half of the pairs are learned, and both
texts of the other half are scored. Seed 0 learns the pairs 0 to 74, and seed 1 the pairs 75 to 149. The
figure of a corpus is the mean of both seeds (``--seed 0,1``).

White space alone separates most pairs as published. No human text has a line break, but 148 of 150 texts of
ChatGPT on XSum have one, 141 of GPT-4 and 140 of davinci; on PubMed 64 of davinci, and none of the other
two. Most human texts of XSum are cut in mid-sentence, and half of GPT-4's are not. Models write typographic
quotes, but no human text here has one. The variants with ``-levelled`` remove these traces: white space
becomes single spaces, typographic quotes, dashes and dots become ASCII, and both texts of a pair are cut to
the same number of words.
"""

import json

from adbench_text.contract.dataset import Dataset, Documents, Redraw
from adbench_text.storage import RemoteFile

_FILES = (
    "https://raw.githubusercontent.com/baoguangsheng/fast-detect-gpt/"
    "3e9b99726d2e45a7306b4ba61d31a796ef0c2135/exp_gpt3to4/data/"
)
_DEFAULT, _LEVELLED = "xsum-gpt-4", "-levelled"
#: The names of the files, and their sha256, by variant.
_PUBLISHED = {
    "xsum-chatgpt": (
        "xsum_gpt-3.5-turbo",
        "4440425729c649f0f8077f17ab0203dc99221fcb05bded79b4e4fc8fedd80df4",
    ),
    "xsum-gpt-4": ("xsum_gpt-4", "b4275bb70331550699bc1867b2c3e244cee4a165cdb24f5eb7e9cef54f05be06"),
    "xsum-davinci": ("xsum_davinci", "11777968e7fbb7a40584b8f7cf357f35c1dd63f8b869795021db109bf417d1df"),
    "pubmed-chatgpt": (
        "pubmed_gpt-3.5-turbo",
        "e01a12da90318c347b743eb3f4c175e99d57101c7052bab27335bf21b5a85d3d",
    ),
    "pubmed-gpt-4": ("pubmed_gpt-4", "4bf0a4f7e641cb3a4fdf1f7911f981a5fa992a28bfff2ac9c454597ea5b661dd"),
    "pubmed-davinci": ("pubmed_davinci", "272429b1bde246dadfc281e01ad58bfe0ad598d74e329f74d26b8bf1680547fc"),
}
# quotes, apostrophes, long dashes and the ellipsis
_TO_ASCII = str.maketrans(
    dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("‒–—―", "-") | {"…": "..."}
)


class FastDetect(Dataset):
    """Human texts, and texts that ChatGPT, GPT-4 or davinci wrote from the same opening.

    Parameters
    ----------
    variant : str, default ""
        Genre and model, such as ``"pubmed-davinci"``, or the same with ``-levelled``; empty for
        ``"xsum-gpt-4"``.
    """

    name: str = "fast-detect"  # type: ignore[misc]  # these two are class attributes of other datasets
    files: tuple[RemoteFile, ...]  # type: ignore[misc]
    classes = ("human", "machine")
    inliers = ("human",)
    variants = (*_PUBLISHED, *(f"{name}{_LEVELLED}" for name in _PUBLISHED))
    protocol = "redrawn"
    redraw = Redraw(folds=2)
    contamination = (0.0,)
    as_papers = False
    source = "https://github.com/baoguangsheng/fast-detect-gpt"
    licence = "MIT (the repository)"
    citation = (
        "G. Bao, Y. Zhao, Z. Teng, L. Yang, Y. Zhang: Fast-DetectGPT: Efficient Zero-Shot Detection of "
        "Machine-Generated Text via Conditional Probability Curvature. ICLR 2024."
    )

    def __init__(self, variant: str = "") -> None:
        chosen = variant or _DEFAULT
        self.name = f"{self.name}:{variant}" if variant else self.name
        self.is_levelled = chosen.endswith(_LEVELLED)
        name, digest = _PUBLISHED[chosen.removesuffix(_LEVELLED)]
        file = f"{name}.raw_data.json"
        self.files = (RemoteFile(f"real/fast-detect/{file}", f"{_FILES}{file}", sha256=digest),)

    def read(self) -> tuple[Documents, Documents]:
        """Read all pairs as the test part: first the human texts, then the texts of the model."""
        texts = json.loads(self.files[0].fetch().read_text(encoding="utf-8"))
        pairs = [*zip(texts["original"], texts["sampled"], strict=True)]
        if self.is_levelled:
            pairs = [_levelled(human, machine) for human, machine in pairs]
        ordered = [pair[label] for label in (0, 1) for pair in pairs]
        return Documents([], []), Documents(ordered, [0] * len(pairs) + [1] * len(pairs))


def _levelled(human: str, machine: str) -> tuple[str, str]:
    r"""Return both texts with single spaces, with signs of ASCII, and with the same number of words.

    >>> _levelled("It “rains” today – and tomorrow.", "It is\n\ndry…")
    ('It "rains" today', 'It is dry...')
    """
    words, others = (text.translate(_TO_ASCII).split() for text in (human, machine))
    n = min(len(words), len(others))
    return " ".join(words[:n]), " ".join(others[:n])
