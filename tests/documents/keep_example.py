"""Makes the file of `adbench-text odd --example`: `python tests/documents/keep_example.py`.

It is docstrings of four libraries, as the dataset pydocs prepares them, and texts that are written here. The
docstrings are those of the versions that are installed, so that the file is kept. A note beside it has their
licences. README and docs/own-text.md show what `odd` prints for it.
"""

import csv
import gzip
import io
from importlib.metadata import distribution
from pathlib import Path

from adbench_text.datasets.pydocs import DISTRIBUTIONS, PyDocs, _stable_hash
from adbench_text.documents import EXAMPLE

LICENCES = EXAMPLE.with_name("example-licences.txt")
LIBRARIES = {  # all of them under the same licence, with these notices
    "numpy": "Copyright (c) 2005-2025, NumPy Developers.",
    "pandas": "Copyright (c) 2008-2011, AQR Capital Management, LLC, Lambda Foundry, Inc. and PyData "
    "Development Team. Copyright (c) 2011-2026, Open source contributors.",
    "scipy": "Copyright (c) 2001-2002 Enthought, Inc. 2003, SciPy Developers.",
    "sklearn": "Copyright (c) 2007-2026 The scikit-learn developers.",
}
PER_LIBRARY, LONGEST = 495, 1200  # characters, so that the file is small

PLANTED = [
    (
        "advice",
        "Drink plenty of tea with honey and lemon, stay in bed, and call the doctor if the "
        "fever lasts until Friday. Your husband should cook chicken soup for the hungry "
        "children.",
    ),
    (
        "wedding",
        "The bride danced with her father, the guests drank champagne and ate strawberry "
        "cake, and the band played until the rain came. Everyone ran laughing into the "
        "church with wet shoes.",
    ),
    (
        "court",
        "The frightened widow wept, the jury whispered, and the burglar who had stolen her "
        "jewels went to prison, although his lawyer blamed the cook.",
    ),
    (
        "court",
        "The landlord refused to repair the roof, so the tenant paid less rent. The court "
        "ruled in her favour and ordered him to pay the lawyers of both parties.",
    ),
    (
        "recipe",
        "Preheat the oven to 180 degrees, grease the pan, then beat the eggs with sugar and "
        "fold in the flour. Bake the cake for forty minutes and let it cool before you cut "
        "it.",
    ),
    (
        "recipe",
        "Peel the potatoes and boil them in salted water. Fry the onions in butter until "
        "they are golden, add the cream, and serve with parsley and a slice of lemon.",
    ),
    (
        "football",
        "The goalkeeper saved a penalty in the last minute, and the striker scored twice "
        "after half-time. The home team won the derby in front of forty thousand cheering "
        "fans.",
    ),
    (
        "football",
        "After the red card the visitors defended with ten players. The coach praised the "
        "young midfielder, who will play for the national team in spring.",
    ),
    (
        "travel",
        "The night train leaves Vienna at nine and reaches Venice for breakfast. Book a "
        "cabin with a window, and bring warm socks.",
    ),
    (
        "garden",
        "Prune the roses in March, before the buds open, and feed them with compost. Aphids "
        "dislike lavender, so plant some between the bushes.",
    ),
    (
        "chat",
        "hiya r u comin 2nite?? mum says bring ur swimsuit n a towel, tom is drivin so dont b late lol xx",
    ),
    (
        "advert",
        "CONGRATULATIONS!!! YOU HAVE WON A FREE HOLIDAY!!! CALL NOW 0900-555-0199 TO CLAIM "
        "YOUR PRIZE, OFFER ENDS TODAY!!! TERMS APPLY!!!",
    ),
    (
        "advert",
        "Lose ten kilos in two weeks with our amazing pills!! Order today and get a second "
        "bottle FREE >>> www.example.com/pills <<< 100% natural, money back!!!",
    ),
    (
        "German",
        "Der Hausmeister kommt am Dienstag und repariert die Heizung im Keller. Bitte "
        "stellen Sie die Fahrräder in den Hof und lassen Sie die Tür zum Kesselraum offen.",
    ),
    (
        "German",
        "Wir danken für Ihre Bestellung. Die Ware verlässt unser Lager spätestens am "
        "Freitag, die Rechnung liegt dem Paket bei.",
    ),
    (
        "encoded",
        "begin 644 photo.gif "
        'M1TE&.#EA>`!X`/<``/___P```("`@,#`P*"@I/3TQ45%>WM[?W]_<S,S)F9F68S,YEF '
        "M9LR9F?_,S/\\S,S-F9IDSF<QF_YF9S,PS9O]FF3/,9LS_F68SS)EFS,R9",
    ),
    (
        "encoded",
        "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz "
        "IHNpbmd1bGFyIHBhc3Npb24gZnJvbSBvdGhlciBhbmltYWxzLCB3aGljaCBpcyBhIGx1c3Qgb2Yg",
    ),
    (
        "log",
        "Dec 10 06:55:46 gate sshd[24200]: Invalid user webmaster from 203.0.113.7 port "
        "52113; Dec 10 06:55:48 gate sshd[24200]: Failed password for invalid user webmaster "
        "from 203.0.113.7 port 52113 ssh2",
    ),
    (
        "markup",
        '<tr><td class="price">EUR 12.90</td><td><a '
        'href="/basket?id=77">buy</a></td></tr><tr><td class="price">EUR 8.50</td><td><a '
        'href="/basket?id=78">buy</a></td></tr>',
    ),
    (
        "scrambled",
        "tihs fnuction rteurns the smu of teh elmeents aolng an aixs, adn rasies an error if "
        "teh arary is epmty or hsa no nubmers",
    ),
]


def rows() -> list[tuple[str, str, str]]:
    """Return the identifier, the kind (of a planted text) and the text of each document."""
    parts, texts = PyDocs().read(), []
    for label, library in enumerate(PyDocs.classes):
        of_library = [
            text
            for part in parts
            for text, of in zip(part.texts, part.labels, strict=True)
            if of == label and len(text) <= LONGEST
        ]
        if library in LIBRARIES:
            texts += [("", text) for text in sorted(of_library, key=_stable_hash)[:PER_LIBRARY]]
    mixed = sorted([*texts, *PLANTED], key=lambda each: _stable_hash(each[1]))
    return [(f"D{number}", *each) for number, each in enumerate(mixed)]


def versions() -> str:
    """Return the libraries and their versions."""
    found = [distribution(DISTRIBUTIONS.get(library, library)) for library in LIBRARIES]
    return ", ".join(f"{each.name} {each.version}" for each in found)


def licences() -> str:
    """Return the note beside the file."""
    notices = "\n".join(f"- {DISTRIBUTIONS.get(name, name)}: {LIBRARIES[name]}" for name in LIBRARIES)
    (path,) = (each for each in distribution("scikit-learn").files or () if each.name == "COPYING")
    conditions = Path(path.locate()).read_text().partition("All rights reserved.")[2].partition("\n----")[0]
    return (
        f"example.csv.gz holds docstrings of {versions()}, without\nsignatures, code and markup, and "
        f"{len(PLANTED)} texts that were written for it and are under the licence of\nadbench-text. The "
        f"docstrings are under the BSD 3-Clause License:\n\n{notices}\n\nAll rights reserved.\n\n"
        f"{conditions.strip()}\n"
    )


def content() -> bytes:
    """Return the file, not compressed."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([("id", "planted", "text"), *rows()])
    return stream.getvalue().encode()


if __name__ == "__main__":
    EXAMPLE.write_bytes(gzip.compress(content(), mtime=0))
    LICENCES.write_text(licences())
