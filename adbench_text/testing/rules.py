"""Check the rules of a contract."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adbench_text.errors import AdbenchTextError
from adbench_text.failures import described
from adbench_text.isolation import preserved

Subject = TypeVar("Subject")
#: Yields the problems of a plug-in that breaks the rule. The docstring is the rule.
Rule = Callable[[Subject], Iterable[str]]


class ContractError(AdbenchTextError, AssertionError):
    """A plug-in breaks rules of its contract; the message has one line for each problem."""


class Note(str):
    """A finding of a rule that is not a problem, such as a measured value."""

    __slots__ = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a rule for one plug-in; without problems, the plug-in keeps the rule."""

    rule: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    traceback: str


def check(
    rules: Sequence[Rule[Subject]], subject: Subject, module: str, essential: Sequence[Rule[Subject]] = ()
) -> Iterator[Outcome]:
    """Check rules one after the other. Stop at a broken essential rule, because the others need it.

    `module` is the module of the plug-in, to find the file and line of its errors.
    """
    for rule in rules:
        title = (rule.__doc__ or "").partition("\n")[0].rstrip(".")
        begin, findings, trace = time.perf_counter(), list[str](), ""
        try:
            with preserved():
                findings.extend(rule(subject))  # keeps the findings before an error
        except (Exception, SystemExit) as error:  # a plug-in may fail in any way
            is_message = isinstance(error, AdbenchTextError)  # its text is for the user
            findings.append(f"{error}" if is_message else described(error, module))
            trace = traceback.format_exc()
        problems = tuple(" ".join(text.split()) for text in findings if not isinstance(text, Note))
        notes = tuple(note for note in findings if isinstance(note, Note))
        seconds = time.perf_counter() - begin
        yield Outcome(title, problems=problems, notes=notes, seconds=seconds, traceback=trace)
        if problems and rule in essential:
            return


def raise_broken(name: str, outcomes: Iterable[Outcome]) -> None:
    """Raise ContractError if a rule is broken, with one line for each problem."""
    lines = [f"{outcome.rule}: {problem}" for outcome in outcomes for problem in outcome.problems]
    if lines:
        raise ContractError(f"{name} breaks its contract:\n  " + "\n  ".join(lines))
