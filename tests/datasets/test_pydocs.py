import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from interpreters import printed

from adbench_text.contract.dataset import Documents
from adbench_text.datasets import pydocs
from adbench_text.datasets.pydocs import MIN_WORDS, PER_CLASS, PER_MODULE, PyDocs, docstrings, part_of, prose
from adbench_text.errors import DataError
from adbench_text.text.cleaning import clean

Parts = tuple[Documents, Documents]
Install = Callable[[dict[str, str]], type[PyDocs]]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(number: int) -> str:
    """A word of its own for each number below 17,576 (cleaning removes digits)."""
    return "w" + "".join(LETTERS[number // 26**power % 26] for power in (2, 1, 0))


def sentence(number: int) -> str:
    return " ".join(word(MIN_WORDS * number + i) for i in range(MIN_WORDS))


def module(*texts: str) -> str:
    return "\n".join(f'def f{i}():\n    """{text}"""\n' for i, text in enumerate(texts))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install made-up libraries of given files; returns the dataset that reads them."""

    def write(files: dict[str, str]) -> type[PyDocs]:
        libraries = tuple(sorted({name.partition("/")[0] for name in files}))
        for name, code in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        for library in libraries:
            info = tmp_path / f"{library}-1.0.dist-info" / "METADATA"
            info.parent.mkdir()
            info.write_text(f"Metadata-Version: 2.1\nName: {library}\nVersion: 1.0\n")
            (tmp_path / library / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        return type("Made", (PyDocs,), {"classes": libraries})

    return write


@pytest.fixture(scope="module")
def parts(read_pydocs) -> Parts:
    """The real corpus, read once."""
    return read_pydocs()


def test_every_class_fills_at_least_nine_tenths_of_its_cap_and_never_more(parts: Parts) -> None:
    for documents, cap in zip(parts, PER_CLASS.values(), strict=True):
        counts = np.bincount(documents.labels, minlength=len(PyDocs.classes))
        assert counts.max() <= cap
        assert counts.min() >= 0.9 * cap  # other versions may hold a little less
        assert documents.labels.dtype == np.int64


def test_documents_are_prose_that_does_not_name_its_library_once_each(parts: Parts) -> None:
    long = ("numpy", "scipy", "pandas", "sklearn", "scikit", "torch", "mlflow", "matplotlib", "pyplot")
    texts = [text for documents in parts for text in documents.texts]
    cleaned = [clean(text) for text in texts]
    assert len(set(cleaned)) == len(cleaned)
    assert min(len(text.split()) for text in cleaned) >= MIN_WORDS
    for text in texts:
        words = set(re.findall("[a-z]+", text.lower()))
        assert not words & {"np", "pd", "plt", "mpl", "learn"}
        assert not [name for name in words if any(part in name for part in long)]
        assert not [mark for mark in (">>> ", ".. code-block::", "https://", ":func:`", "\n") if mark in text]


def test_train_and_test_share_no_module(install: Install) -> None:
    names = {
        f"lib/m{i}.py": module(*(f"{word(i)} {sentence(1000 + 3 * i + j)}" for j in range(3)))
        for i in range(30)
    }
    train, test = install(names)().read()
    first_words = [{text.split()[0] for text in documents.texts} for documents in (train, test)]
    assert first_words[0].isdisjoint(first_words[1])
    assert first_words[0] | first_words[1] == {word(i) for i in range(30)}
    assert {word(i) for i in range(30) if part_of(f"lib.m{i}") == "test"} == first_words[1]


def test_the_order_of_the_file_system_does_not_matter(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = install({f"lib/m{i}.py": module(sentence(i), sentence(i // 2)) for i in range(20)})()
    rglob = Path.rglob
    orders = []
    for reverse in (False, True):
        monkeypatch.setattr(Path, "rglob", lambda *args, back=reverse: sorted(rglob(*args), reverse=back))
        orders.append([part.texts for part in dataset.read()])
    assert orders[0] == orders[1]


def test_about_one_module_in_three_goes_to_the_test_part() -> None:
    parts = [part_of(f"library.module{i}") for i in range(3000)]
    assert 0.3 < parts.count("test") / len(parts) < 0.37


def test_a_text_of_two_modules_or_two_libraries_is_taken_once(install: Install) -> None:
    texts = [sentence(i) for i in range(3)]
    files = {f"{library}/m{i}.py": module(*texts) for library in ("liba", "libb") for i in range(8)}
    train, test = install(files)().read()
    assert sorted(train.texts + test.texts) == sorted(texts)
    assert set(train.labels) | set(test.labels) == {0}


def test_a_long_module_gives_only_some_of_its_documents(install: Install) -> None:
    train, test = install({"lib/long.py": module(*(sentence(i) for i in range(3 * PER_MODULE)))})().read()
    assert len(train) + len(test) == PER_MODULE
    assert train.texts + test.texts != [sentence(i) for i in range(PER_MODULE)]  # not the first ones


def test_a_class_stops_at_its_cap(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydocs, "PER_CLASS", {"train": 5, "test": 4})
    files = {f"lib/m{i}.py": module(*(sentence(3 * i + j) for j in range(3))) for i in range(30)}
    assert [len(part) for part in install(files)().read()] == [5, 4]


@pytest.mark.parametrize(
    ("file", "code", "is_read"),
    [
        *((f"lib/{name}/m.py", module(sentence(0)), False) for name in ("tests", "_vendor", "protos")),
        ("lib/__init__.py", f"raise SystemExit('imported')\n{module(sentence(0))}", True),
        ("lib/short.py", module(sentence(0).rpartition(" ")[0]), False),
    ],
)
def test_code_is_not_run_and_what_is_short_or_of_others_is_left_out(
    install: Install, file: str, code: str, is_read: bool
) -> None:
    train, test = install({file: code, "lib/sub/m.py": module(sentence(1))})().read()
    assert sorted(train.texts + test.texts) == [sentence(0)] * is_read + [sentence(1)]


READ_ELSEWHERE = """
import sys
import adbench_text.datasets.pydocs as pydocs
from adbench_text.text.words import digest
pydocs.PER_CLASS.update(train=20, test=10)
train, test = pydocs.PyDocs().read()
print(digest(train.texts), digest(test.texts), train.labels.tolist() + test.labels.tolist())
print(sorted(set(pydocs.PyDocs.classes) & set(sys.modules)))
"""


@pytest.mark.slow
def test_reading_imports_no_library_and_does_not_depend_on_the_hash_seed() -> None:
    outputs = [printed(READ_ELSEWHERE, PYTHONHASHSEED=seed).splitlines() for seed in ("1", "2")]
    assert outputs[0] == outputs[1]
    assert outputs[0][1] == "['numpy']"  # the harness itself needs it


def test_the_edition_is_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pydocs, "modules", None)  # nothing is read for it
    editions = [PyDocs().edition()]
    assert f"sklearn {version('scikit-learn')}" in editions[0].name.split(", ")
    monkeypatch.setattr(pydocs, "installed", lambda distribution: "9.9")
    editions.append(PyDocs().edition())
    assert len({edition.digest for edition in editions}) == 2
    assert editions[0].name != editions[1].name
    monkeypatch.setattr(pydocs, "installed", lambda distribution: "")
    with pytest.raises(DataError, match=r"pydocs .*matplotlib, .*pip install matplotlib$"):
        PyDocs().edition()


def test_docstrings_are_those_of_modules_classes_functions_and_methods() -> None:
    code = b'"""m"""\nx = """no"""\nclass C:\n  """c"""\n  async def g(self):\n    """g"""\ndef f():\n  1\n'
    assert [text for text in docstrings(code) if text] == ["m", "c", "g"]


@pytest.mark.parametrize("code", [b'"""m"""\ndef f(:', b'"""m"""\0', b'# coding: nonsense\n"""m"""'])
def test_code_that_cannot_be_parsed_has_no_docstrings(code: bytes, recwarn: pytest.WarningsRecorder) -> None:
    assert list(docstrings(code)) == []
    assert list(docstrings(b'"""\\d"""')) == ["\\d"]
    assert not recwarn.list  # warnings about the code of others are not shown


@pytest.mark.parametrize(
    ("docstring", "left"),
    [
        ("Adds.\n\n>>> add(1,\n...     2)\n3\n\nThen ends.", "Adds. Then ends."),
        ("Adds.\n\nIn [1]: add(1)\nOut[1]: 1\n\nEnds.", "Adds. Ends."),
        ("add(x, y=None)\n\nAdds.", "Adds."),
        ("Adds.\n\nParameters\n----------\nx, y : array_like\n    The terms.", "Adds. The terms."),
        ("Adds.\n\nReturns\n-------\nfloat\n    The sum.", "Adds. The sum."),
        ("Adds.\n\nSee Also\n--------\nsub : Opposite.\n\nNotes\n-----\nFast.", "Adds. Fast."),
        ("Adds.\n\nReferences\n----------\n.. [1] A. Author, Title.", "Adds."),
        ("Adds.\n\nArgs:\n    x (Tensor): the term\n    *y: the rest", "Adds. the term the rest"),
        ("Adds.\n\n:param x: the term\n:return: the sum", "Adds. the term the sum"),
        ("Adds.\n\nExample::\n\n    add(1)\n\n    add(2)\n\nEnds.", "Adds. Ends."),
        ("Adds this::\n\n    add(1)\n\nEnds.", "Adds this: Ends."),
        ("Adds.\n\n.. code-block:: python\n\n    add(1)\n\nEnds.", "Adds. Ends."),
        ("Adds.\n\n```python\nadd(1)\n```\nEnds.", "Adds. Ends."),
        ("Adds.\n\n.. note::\n\n    Slowly.\n", "Adds. Slowly."),
        ("Adds.\n\n.. versionchanged:: 1.2\n    Faster.", "Adds. 1.2 Faster."),
        ("See also :class:`Adder` for more.", "See also Adder for more."),
        ("See also\n:meth:`~pandas.Adder.add`, :ref:`adding <adder>`.", ".Adder.add, adding."),
        ("Adds :math:`\\alpha` to ``x`` [1]_.", "Adds to x ."),
        ("Adds as in `the manual <https://x.org/a?b=c>`_.", "Adds as in the manual."),
        ("Adds, see https://x.org/a?b=c for more", "Adds, see for more"),
        ("Title\n=====\nAdds.", "Title Adds."),
        (
            "NumPy's np.add, scikit-learn, PyTorch and TorchScript, to_numpy, mpl_toolkits",
            "'s .add, -, and , to_, _toolkits",
        ),
        ("A learned input of the snappy mlp updates", "A learned input of the snappy mlp updates"),
    ],
)
def test_what_is_left_of_a_docstring(docstring: str, left: str) -> None:
    assert prose(docstring) == left
