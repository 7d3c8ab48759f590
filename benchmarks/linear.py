"""Benchmark of hostile input at two sizes, for all patterns, readers of files, and functions of a text.

Twice the input should take about twice the time. A ratio of 4 means quadratic time: 60 kB of a file then take
minutes. The script finds the patterns in the modules of the package, and makes hostile texts from the
patterns.
"""

import gzip
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import product
from operator import itemgetter
from pathlib import Path
from re import _compiler, _constants, _parser  # no public module has the parts of a pattern
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from adbench_text.documents.marks import read_marks
from adbench_text.errors import AdbenchTextError
from adbench_text.escaping import file_name, markdown, no_formula, one_line, without_password
from adbench_text.own_file import names_in, without_folders
from adbench_text.reading.documents import DocumentFile
from adbench_text.reading.mail import html_text
from adbench_text.store.cells_file import read_csv
from adbench_text.text.cleaning import clean, english_words, word_spans, words_of
from adbench_text.text.letters import in_lower_case, without_escapes
from adbench_text.text.words import word_positions, words

ROOT = Path(__file__).parents[1]
FOLDERS = ("adbench_text", "detectors", "datasets", "reports")
#: Patterns that read only code which this machine executes anyway, the sources of PyOD.
TRUSTED = {"adbench_text.detectors.pyod": {"_CLASS"}}

_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_OF_ONE = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY)
_CHARACTERS = [
    *map(chr, range(128)),
    *"\xa0é東\u0301\u200b\u200c\u202e\ufeff\u0e01\u0e31\u0628\u1161ß５＝－²",
]
_SIZES = 100_000, 200_000  # characters
_LEAST = 1e-3  # seconds; shorter times are noise
_IN_TEXT = {"search", "sub", "subn", "split", "findall", "finditer"}
_SMALL = 400  # characters at which attacks are compared
_N_SLOWEST = 3  # attacks on a pattern that are timed at full length
_MOST, _FEW = 12, 8  # beginnings of attacks, and characters for pairs


def modules() -> list[str]:
    """Return the modules that compile patterns."""
    found = []
    for path in (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))):
        if "re.compile(" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append(
                ".".join(["adbench_text", *parts[parts[0] == "adbench_text" :]]).removesuffix(".__init__")
            )
    return found


def patterns(module: str) -> dict[str, re.Pattern]:
    """Return the patterns of a module by name, from variables, lists, and the results of functions."""
    found = {}
    for name, value in vars(import_module(module)).items():
        returned = getattr(value, "__annotations__", {}).get("return")
        if returned in (re.Pattern[str], "re.Pattern[str]") and value.__module__ == module:
            found[f"{name}()"] = value()
        else:
            found |= _within(name, value)
    return {name: each for name, each in found.items() if name not in TRUSTED.get(module, ())}


def _within(name: str, value: object) -> dict[str, re.Pattern]:
    if isinstance(value, re.Pattern):
        return {name: value}
    if not isinstance(value, list | tuple | dict):
        return {}
    values = value.items() if isinstance(value, dict) else enumerate(value)
    return {
        key: each for place, inner in values for key, each in _within(f"{name}[{place!r}]", inner).items()
    }


def uses(module: str, name: str) -> list[Callable[[re.Pattern, str], object]]:
    """Return the uses of a pattern: at the start of a text, for the whole text, or everywhere in it."""
    name = re.escape(name.partition("[")[0].removesuffix("()"))
    home = import_module(module).__file__ if name.startswith("_") else None
    used = set()
    for path in (
        [Path(home)] if home else [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    ):
        used |= {*re.findall(rf"\b{name}(?:\(\))?\.(\w+)", path.read_text(encoding="utf-8"))}
    at_start = [getattr(re.Pattern, method) for method in ("match", "fullmatch") if method in used]
    return at_start + ([_everywhere] if not at_start or used & _IN_TEXT else [])


def _everywhere(pattern: re.Pattern, text: str) -> None:
    for _ in pattern.finditer(text):
        pass


class Attacks:
    """Texts that may be hostile to a pattern: a beginning, a repeated part, and an end."""

    def __init__(self, pattern: re.Pattern) -> None:
        self._pattern, self._is_bytes = pattern, isinstance(pattern.pattern, bytes)
        flags = pattern.flags & ~(0 if self._is_bytes else re.UNICODE)
        self._tree = _parser.parse(pattern.pattern, flags)
        self._groups = {}
        self._alphabet = self._different()

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        whole = {self._sample(self._tree, pick) for pick in range(4)}
        beginnings = sorted({"", *self._before(self._tree, [""])}, key=len)[:_MOST]
        again = [*self._alphabet, *map("".join, product(self._alphabet[:_FEW], repeat=2))]
        again += [f"{start}{each}" for each in [*whole, *self._parts(), *beginnings] for start in ("", "\n")]
        for attack in product(beginnings, dict.fromkeys(filter(None, again)), ("", "\0")):
            if len("".join(attack)) < _SMALL:
                yield attack

    def text(self, attack: tuple[str, str, str], n: int) -> str | bytes:
        """Return an attack of about n characters."""
        beginning, again, end = attack
        text = f"{beginning}{again * (n // len(again))}{end}"
        return text.encode("latin-1", "replace") if self._is_bytes else text

    def slowest(self, used: Callable[[re.Pattern, str], object]) -> list[tuple[str, str, str]]:
        """Return the attacks that take longest at a small size."""
        taken = {attack: seconds(partial(used, self._pattern, self.text(attack, _SMALL))) for attack in self}
        return sorted(taken, key=taken.__getitem__)[-_N_SLOWEST:]

    def _different(self) -> list[str]:
        """Return one character of each class that the pattern does not distinguish, and the named ones."""
        nodes = {
            repr(node): node for part in self._sequences(self._tree) for node in part if node[0] in _OF_ONE
        }
        self._of_one = {key: self._compiled(node) for key, node in nodes.items()}
        named = [chr(value) for kind, value in nodes.values() if kind is _constants.LITERAL]
        alike = {}
        for character in [*(_CHARACTERS[:128] if self._is_bytes else _CHARACTERS), *named]:
            alike.setdefault(tuple(bool(self._is(key, character)) for key in nodes), character)
        return [*alike.values()][: 2 * _MOST]

    def _compiled(self, node: tuple) -> re.Pattern:
        flags = self._pattern.flags & (re.IGNORECASE | re.ASCII | re.DOTALL | re.UNICODE)
        return _compiler.compile(_parser.SubPattern(self._tree.state, [node]), flags)

    def _is(self, key: str, character: str) -> bool:
        text = character.encode("latin-1", "replace") if self._is_bytes else character
        return self._of_one[key].match(text) is not None

    def _sequences(self, tree: list) -> Iterator[list]:
        yield tree
        for node in tree:
            for inner in _inner(*node):
                yield from self._sequences(inner)

    def _parts(self) -> set[str]:
        """Return texts that parts of the pattern match."""
        return {self._sample(part) for part in self._sequences(self._tree)}

    def _before(self, tree: list, starts: list[str]) -> Iterator[str]:
        """Yield texts that may precede a repetition, or its second round."""
        for place, (kind, value) in enumerate(tree):
            here = [start + self._sample(tree[:place], pick) for start in starts for pick in (0, 1)][:4]
            if kind in _REPEATS:
                yield from here
                yield from (start + self._sample(value[2]) for start in here)
            for inner in _inner(kind, value):
                yield from self._before(inner, here)

    def _sample(self, tree: list, pick: int = 0) -> str:
        """Return a text that a part of the pattern may match."""
        text = ""
        for kind, value in tree:
            if kind is _constants.LITERAL:
                text += chr(value)
            elif kind in _OF_ONE:
                fitting = [each for each in self._alphabet if self._is(repr((kind, value)), each)]
                text += fitting[pick % len(fitting)] if fitting else ""
            elif kind is _constants.GROUPREF:
                text += self._groups.get(value, "")
            elif kind is _constants.BRANCH:
                text += self._sample(value[1][pick % len(value[1])], pick)
            elif kind in _REPEATS:
                text += self._sample(value[2], pick) * value[0]
            elif kind not in (_constants.ASSERT, _constants.ASSERT_NOT) or (kind, value[0]) == (
                _constants.ASSERT,
                -1,
            ):
                inner = "".join(self._sample(each, pick) for each in _inner(kind, value))
                text += inner
                if kind is _constants.SUBPATTERN:
                    self._groups[value[0]] = inner
        return text


def _inner(kind: object, value: object) -> list:
    """Return the sequences within a part of a pattern."""
    if kind is _constants.SUBPATTERN:
        return [value[3]]
    if kind in _REPEATS:
        return [value[2]]
    if kind is _constants.BRANCH:
        return value[1]
    if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is _constants.ATOMIC_GROUP else []


def seconds(function: Callable[[], object]) -> float:
    """Return the seconds that a function takes."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def _mail(kind: str, body: str) -> str:
    return f"Subject: ferries\nMIME-Version: 1.0\nContent-Type: text/{kind}\n\n{body}"


def _mbox(mail: str) -> str:
    return f"From ann@sea.org Mon Jan  5 09:00:00 2026\n{mail}\n"


def _named(head: str, n: int) -> str:
    """Return the text of a CSV with about n characters of columns."""
    names = [f"c{number}" for number in range(n // 7)]
    return f"{','.join([head, *names])}\n{','.join(['ship', *names])}\n"


LINE = "a,b\n"
_ROWS = "text,note\nship,x\n"
_PARTS = 'Content-Type: multipart/mixed; boundary="b"\n\n'
#: Content of a file with about n characters, by file name and hostile part.
FILES: dict[tuple[str, str], Callable[[int], str]] = {
    ("a.csv", "columns"): lambda n: _named("text", n),
    ("a.csv", "columns of one name"): lambda n: f"{'x,' * (n // 4)}text\n{'x,' * (n // 4)}ship\n",
    ("a.csv", "a quote without an end"): lambda n: f'{_ROWS}"{"ship,x" * (n // 6)}',
    ("a.csv", "lines in a quote"): lambda n: f'{_ROWS}"{LINE * (n // 4)}"x',
    ("a.csv", "quotes"): lambda n: _ROWS + '"' * n,
    ("a.csv", "backslashes in quotes"): lambda n: _ROWS + '"\\"a' * (n // 4) + ",x",
    ("a.csv", "delimiters"): lambda n: _ROWS + ",;\t|" * (n // 4),
    ("a.csv", "short rows"): lambda n: _ROWS + "a\n" * (n // 2),
    ("a.csv", "blank lines"): lambda n: _ROWS + " \n" * (n // 2),
    ("a.csv", "carriage returns"): lambda n: _ROWS + "\r" * n,
    ("a.tsv", "quotes"): lambda n: "text\tnote\n" + '"\t' * (n // 2),
    ("a.csv.gz", "one line"): lambda n: _ROWS + "a" * n,
    ("a.jsonl", "brackets"): lambda n: "[" * n,
    ("a.jsonl", "braces"): lambda n: '{"a":' * (n // 5),
    ("a.jsonl", "values without commas"): lambda n: '{\n"text": "a"\n}' * (n // 15),
    ("a.jsonl", "a value without an end"): lambda n: '{\n"text": "' + "a\\n" * (n // 3),
    ("a.jsonl", "commas"): lambda n: "[" + "," * n + "]",
    ("a.jsonl", "keys"): lambda n: json.dumps(
        {"text": "a", **{f"k{number}": 1 for number in range(n // 12)}}
    ),
    ("a.jsonl", "digits"): lambda n: f'{{"text": "a", "b": {"1" * n}}}',
    ("a.txt", "one line"): lambda n: "a" * n,
    ("a.txt", "escapes"): lambda n: "\x1b[" * (n // 2),
    ("a.mbox", "times in the line before a mail"): lambda n: f"From a{' 09:00' * (n // 6)}\n\nship\n",
    ("a.mbox", "mails"): lambda n: _mbox("\nship") * (n // 48),
    ("a.mbox", "quoted lines"): lambda n: _mbox("\n" + ">" * n + "From a"),
    ("mails/a.eml", "parts"): lambda n: _PARTS + f"--b\n\n{'ship ' * 20}\n" * (n // 106),
    ("mails/a.eml", "a long subject"): lambda n: f"Subject: {'=?utf-8?q?a?= ' * (n // 14)}\n\nship",
    ("mails/a.eml", "parameters"): lambda n: f"Content-Type: text/plain{'; a=b' * (n // 5)}\n\nship",
    ("mails/a.eml", "quotes in a header"): lambda n: (
        f"Content-Type: text/plain; charset={chr(34) * n}\n\nship"
    ),
    ("mails/a.eml", "comments in a header"): lambda n: f"Content-Type: text/plain; {'(' * n}\n\nship",
    ("mails/a.eml", "names of a file"): lambda n: (
        f"Content-Disposition: a{'; filename=a' * (n // 12)}\n\nship"
    ),
    ("mails/a.eml", "tags without an end"): lambda n: _mail("html", "<a " * (n // 3)),
    ("mails/a.eml", "hard spaces"): lambda n: _mail("html", "&nbsp;" * (n // 6)),
    ("mails/a.eml", "spaces"): lambda n: _mail("html", " " * n + "x"),
    ("notes/log", "lines like headers"): lambda n: "10:15:00 crew went on board\n" * (n // 28) + "the end\n",
    ("notes/log", "a line like a header"): lambda n: "a:" * (n // 2) + "\n\nthe end\n",
}
_READ = {"marks.csv": read_marks, "cells.csv": lambda path, _: read_csv(path)}
#: The same for other files.
OTHERS: dict[tuple[str, str], Callable[[int], str]] = {
    ("marks.csv", "columns of one name"): lambda n: f"row,mark{',x' * (n // 8)}\n0,odd\n",
    ("marks.csv", "columns"): lambda n: _named("mark,row", n),
    ("marks.csv", "marks"): lambda n: "row,mark\n" + "1,odd\n" * (n // 6),
    ("cells.csv", "columns"): lambda n: _named("detector,dataset,inlier,contamination,seed,status", n),
    ("cells.csv", "digits"): lambda n: f"detector;dataset\n{'1' * n};x\n",
}
#: Functions of a text, and hostile texts.
TEXTS: dict[str, Callable[[str], object]] = {
    **{
        each.__name__: each
        for each in (no_formula, one_line, markdown, file_name, without_password, html_text)
    },
    **{each.__name__: each for each in (clean, words, without_escapes, without_folders)},
    "names_in": lambda text: list(names_in(text)),
    "word_positions": lambda text: list(word_positions(text)),
    "english_words": lambda text: list(english_words(text)),
    "words_of": lambda text: [words_of(text, language) for language in ("en", "de")],
    "word_spans": lambda text: [list(word_spans(text, language)) for language in ("en", "de")],
    "in_lower_case": lambda text: in_lower_case(text, "en"),
}
AGAIN = [
    "a",
    " ",
    "\n",
    "\t",
    "-",
    ";-",
    "1",
    "\x1c",
    "\x1b[",
    "\x1b]",
    "\u0301",
    "é",
    "\u200b",
    "\u200d",
    "ก\u200b",
]
AGAIN += [
    "<",
    "<a ",
    "</a",
    "<!--",
    "<?",
    "<script>",
    "<a b='",
    "&#",
    "&#1",
    "&nbsp;",
    "://",
    "://a:",
    "?passw",
    ".py",
]
AGAIN += ["a.py ", "can", "東", "ff", "\ufb01", "İ", "\x00", "\ud800", "|;\t", "'", '"', "()", "_*"]


class NoDocuments:
    """A file with one document, for marks."""

    id_titles, text_title = ("row",), "text"

    def __len__(self) -> int:
        return 2

    def id(self, row: int) -> str:
        return str(row)

    def row_of(self, name: str) -> int | None:
        return int(name) if name.isdecimal() and len(name) < 9 else None

    def text(self, row: int) -> str:
        return "ship"


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file of FILES or OTHERS, and return the path for the reader: the file or its folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    data = text.encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path.parent if path.parent != folder else path


def read(path: Path) -> None:
    """Read a complete file; an error of one line is a valid result."""
    with suppress(AdbenchTextError):
        if (reader := _READ.get(path.name)) is not None:
            reader(path, NoDocuments())
        else:
            DocumentFile(str(path)).table()


def attacked(function: Callable[[str], object], again: str, n: int) -> Callable[[], object]:
    return partial(function, f"a;-{again * (n // len(again))}x")


def _parquet(folder: Path, n: int) -> Path:
    path = folder / f"{n}.parquet"
    pq.write_table(pa.table({"text": ["ship"], **{f"c{number}": ["1"] for number in range(n // 100)}}), path)
    return path


def _print(name: str, pairs: Iterable[Sequence[float]]) -> None:
    """Print the longest time, and its ratio to the time for half of the characters."""
    first, longest = max(pairs, key=itemgetter(1))
    print(f"{longest / max(first, _LEAST):6.1f} {1e3 * longest:10,.1f} ms  {name}", flush=True)


def time_patterns() -> None:
    for module in modules():
        for name, pattern in patterns(module).items():
            attacks = Attacks(pattern)
            pairs = [
                [seconds(partial(used, pattern, attacks.text(attack, n))) for n in _SIZES]
                for used in uses(module, name)
                for attack in attacks.slowest(used)
            ]
            _print(f"{module}.{name}", pairs)


def time_files(folder: Path) -> None:
    for (name, kind), text in {**FILES, **OTHERS}.items():
        pair = [seconds(partial(read, written(folder, name, text(n)))) for n in _SIZES]
        _print(f"{name}: {kind}", [pair])
    _print("a.parquet: columns", [[seconds(partial(read, _parquet(folder, n))) for n in _SIZES]])


def time_texts() -> None:
    for name, function in TEXTS.items():
        pairs = [[seconds(attacked(function, again, n)) for n in _SIZES] for again in AGAIN]
        _print(f"{name}(text)", pairs)


if __name__ == "__main__":
    print("Ratio of the times for 200,000 and 100,000 characters, and the time for 200,000")
    with TemporaryDirectory() as name:
        time_patterns()
        time_files(Path(name))
        time_texts()
