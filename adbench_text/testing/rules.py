"""Rules of a contract: how they are run, and what becomes of each."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from adbench_text.errors import AdbenchTextError
from adbench_text.failures import described
from adbench_text.isolation import preserved

Subject = TypeVar("Subject")
#: Yields the ways in which a plug-in breaks the rule. Its docstring is the rule itself.
Rule = Callable[[Subject], Iterable[str]]


class ContractError(AdbenchTextError, AssertionError):
    """A plug-in breaks rules of its contract; the message has one line for each."""


class Note(str):
    """What a rule yields that is no problem, such as a measured value."""

    __slots__ = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a rule for one plug-in; without problems, it keeps the rule."""

    rule: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    traceback: str


def check(
    rules: Sequence[Rule[Subject]], subject: Subject, module: str, essential: Sequence[Rule[Subject]] = ()
) -> Iterator[Outcome]:
    """Check rules one after the other; an essential one that is broken is the last, as the others need it.

    `module` is that of the plug-in, for file and line of its errors.
    """
    for rule in rules:
        title = (rule.__doc__ or "").partition("\n")[0].rstrip(".")
        begin, findings, trace = time.perf_counter(), list[str](), ""
        try:
            with preserved():
                findings.extend(rule(subject))  # keeps those before an error
        except (Exception, SystemExit) as error:  # a plug-in may fail in any way
            is_message = isinstance(error, AdbenchTextError)  # written for the user
            findings.append(f"{error}" if is_message else described(error, module))
            trace = traceback.format_exc()
        problems = tuple(" ".join(each.split()) for each in findings if not isinstance(each, Note))
        notes = tuple(each for each in findings if isinstance(each, Note))
        yield Outcome(title, problems, notes, time.perf_counter() - begin, trace)
        if problems and rule in essential:
            return


def raise_broken(name: str, outcomes: Iterable[Outcome]) -> None:
    """Raise ContractError if a rule is broken, with one line for each problem."""
    lines = [f"{outcome.rule}: {problem}" for outcome in outcomes for problem in outcome.problems]
    if lines:
        raise ContractError(f"{name} breaks its contract:\n  " + "\n  ".join(lines))
