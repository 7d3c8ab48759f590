"""Docstrings of the libraries that this package needs: English prose that every installation already has.

A library is a class, a docstring is a document. The libraries are read as text, not imported. Signs of the
style of a library are removed, so that only its subject counts: names of libraries, signatures, code, section
headers, types and markup. The documents of a module are in one part only.
"""

import ast
import hashlib
import inspect
import re
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from adbench_text.code_version import installed
from adbench_text.contract.dataset import Dataset, Documents, Edition
from adbench_text.errors import DataError
from adbench_text.escaping import utf8
from adbench_text.text.cleaning import clean

PER_CLASS = {"train": 500, "test": 250}  # as many as the smallest library has
PER_MODULE = 25  # so that a long module does not dominate its library
MIN_WORDS = 15  # after cleaning; fewer words are too little evidence

DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # import name: distribution name, if they differ

SKIPPED = {"test", "tests", "testing", "_testing", "conftest"}
# The next two lines: vendored code of other projects.
SKIPPED |= {"_lib", "_vendor", "vendored_templates", "externals"}
SKIPPED |= {"_numpy", "_appdirs", "legacy_databricks_cli"}
SKIPPED |= {"protos", "distutils"}  # protos: generated code; distutils: exists only in older Pythons


class PyDocs(Dataset):
    """The built-in corpus; the installed versions of the libraries are its edition."""

    name = "pydocs"
    classes = (
        "matplotlib",
        "mlflow",
        "numpy",
        "pandas",
        "scipy",
        "sklearn",
        "torch",
    )
    source = "the installed libraries themselves; nothing is downloaded"
    licence = (
        "each library's own: BSD-style (numpy, pandas, scipy, scikit-learn, torch), Apache-2.0 (mlflow), "
        "PSF-style (matplotlib); read where it is installed, not redistributed"
    )
    citation = "name the versions of the libraries, which are the edition"

    def edition(self) -> Edition:
        """Return the installed versions, without reading any docstring."""
        name = ", ".join(f"{library} {_version(library)}" for library in self.classes)
        return Edition(name, _stable_hash(name))

    def read(self) -> tuple[Documents, Documents]:
        """Read the modules of each library, in the order of their hashes, until both parts are full."""
        texts: dict[str, list[str]] = {part: [] for part in PER_CLASS}
        labels: dict[str, list[int]] = {part: [] for part in PER_CLASS}
        seen: set[str] = set()  # cleaned texts of all classes and both parts; a text is taken only once
        for label, library in enumerate(self.classes):
            room = dict(PER_CLASS)
            for module, path in sorted(modules(library), key=lambda item: (_stable_hash(item[0]), item[1])):
                part = part_of(module)
                if not room[part]:
                    continue
                new = _new_texts(path, min(room[part], PER_MODULE), seen)
                texts[part] += new
                labels[part] += [label] * len(new)
                room[part] -= len(new)
        train, test = (Documents(texts[part], labels[part]) for part in PER_CLASS)
        return train, test


def _version(library: str) -> str:
    distribution = DISTRIBUTIONS.get(library, library)
    if number := installed(distribution):
        return number
    raise DataError(
        f"The dataset pydocs reads the docstrings of {distribution}, which is not installed. "
        f"Run: pip install {distribution}"
    )


def _stable_hash(text: str) -> str:  # the same in every process, unlike hash()
    return hashlib.sha256(utf8(text)).hexdigest()


def part_of(module: str) -> str:
    """Return the part of a module by a hash of its dotted name: about one in three is for testing."""
    return "train" if int(_stable_hash(module), 16) % 3 else "test"


def modules(library: str) -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the file of each module of a library, in any order."""
    spec = find_spec(library)  # runs no code, because the name is top-level
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in Path(folder).rglob("*.py"):
            names = (library, *path.relative_to(folder).with_suffix("").parts)
            if SKIPPED.isdisjoint(names):
                yield ".".join(names).removesuffix(".__init__"), path


def _new_texts(path: Path, limit: int, seen: set[str]) -> list[str]:
    new: dict[str, str] = {}
    for docstring in docstrings(path.read_bytes()):
        text = prose(docstring)
        cleaned = clean(text)
        if cleaned not in seen and len(cleaned.split()) >= MIN_WORDS:
            new.setdefault(cleaned, text)
    chosen = sorted(new, key=_stable_hash)[:limit]
    seen.update(chosen)
    return [new[cleaned] for cleaned in chosen]


def docstrings(code: bytes) -> Iterator[str]:
    """Yield the docstrings of a module, of its classes and of its functions."""
    if b'"""' not in code:  # then do not parse; docstrings in other quotes are short
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the code of others may have invalid escapes
            tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return  # a template, or code for a newer Python
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node, clean=False) or ""


_SECTIONS = (
    "(?:Other )?Parameters?|(?:Keyword )?Arg(?:ument)?s|Kwargs|Attributes|Methods|Receives|Inputs?|Outputs?|"
    "Returns?|Yields?|Raises|Warns|Warnings?|Notes?|Examples?|Usage|Shape|Todo|See Also|References"
)
_PROSE = "note|warning|caution|tip|hint|important|admonition|seealso|topic|rubric|version\\w+|deprecated"
_LIBRARIES = "numpy|scipy|pandas|sklearn|scikit|torch|mlflow|matplotlib|pyplot"
_LABEL = r"(?:[^`<\s]++|\s++(?=[^`<\s]))*+"  # text of a link, without the spaces after it
_BLOCK = r"(?:\n+(?=\1[ \t])[^\n]*)*"  # the lines after a line that are indented deeper

# Patterns and their replacements, in this order; the rest is prose.
_RULES = [
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"(?<![ \t])[ \t]++$", ""),
        (r"^(?:See Also|References)\n[-=]{3,}\n(?:(?!.+\n[-=]{3,}$).*\n?)*", ""),  # names and titles only
        (r"^[ \t]*(?:>>>|In \[\d+\]:).*(?:\n[ \t]*\S.*)*", ""),  # doctests, with output up to a blank line
        (r"^[ \t]*(```|~~~)[\s\S]*?\1", ""),
        (rf"^([ \t]*)\.\. +(?!(?:{_PROSE})::|\[).*{_BLOCK}", ""),  # maths, code, plots, comments
        (r"^[ \t]*\.\. +(?:[\w-]+::|\[[^\]\n]*\])", ""),
        (rf"^([ \t]*+)(.*)::${_BLOCK}", r"\1\2:"),  # literal blocks
        (rf"^[ \t]*(?i:{_SECTIONS})[ \t]*(?::(?!\w)|$)", ""),
        (r"^(?: *\t)*+[-=~^*#+|_\"` ]{2,}$", ""),  # underlines and rules of tables
        (r"^[ \t]*[\w.]+\([^()]*\)(?: *->.*)?:?$", ""),  # signatures
        (r"^[ \t]*\S[^:\n]{0,60} : .*$", ""),  # `x, y : array_like`
        (r"^([ \t]*)\*{0,2}\w+(?: ?\([^)\n]*\))?: ", r"\1"),  # `x (Tensor): `
        (r"^([ \t]*):\w[^:`\n]*:(?=\s)", r"\1"),  # `:param x:`
        # a type, with its meaning below
        (r"^(?:([ \t]*+)\w+$(?=\n\1[ \t]+\S)|[^.\n]+, optional$(?=\n[ \t]+\S))", ""),
        (r"(?<!\w)\w++://[^\s>`]+|www\.[^\s>`]+", ""),
        (r":math:`[^`]*`|\$[^$\n]+\$|%\(\w+\)s|\[\w+\]_", ""),
        (rf"(?<![\w:+-])([\w+-]*+):[\w:+-]{{2,}}+(?<=:)`~?({_LABEL})\s*+(?:<[^`]*>)?`", r"\1\2"),
        (r"`+([^`]*?)(?:\s<[^`<>]*>)?`+_*", r"\1"),
        (r"/gallery/\S+|sphx_glr\w+|(?:Read more in the\s+)?User\s+Guide", ""),
        (r"(?:See\s+)?\bGlossary\b(?:\s+for more details)?", ""),
        (rf"(?i)(?<![a-z])(?:[a-z]*(?:{_LIBRARIES})[a-z]*|mpl[a-z]*|np|pd|plt|learn)(?![a-z])", ""),
    )
]


def prose(docstring: str) -> str:
    """Return the running text of a docstring, on one line."""
    text = inspect.cleandoc(docstring)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())
