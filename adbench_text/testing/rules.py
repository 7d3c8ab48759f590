"""Rules of a contract: how they are run, and what becomes of each."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

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
    """The outcome of a rule for one plug-in; it is skipped if one that it builds on is broken."""

    rule: str
    status: Literal["ok", "failed", "skipped"]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    traceback: str = ""


def check(
    rules: Sequence[Rule[Subject]], subject: Subject, module: str, essential: Sequence[Rule[Subject]] = ()
) -> Iterator[Outcome]:
    """Check rules one after the other; after an essential one that is broken, skip the rest.

    `module` is that of the plug-in, for file and line of its errors.
    """
    is_broken = False
    for rule in rules:
        title = (rule.__doc__ or "").partition("\n")[0].rstrip(".")
        if is_broken:
            yield Outcome(title, "skipped")
            continue
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
        status: Literal["ok", "failed"] = "failed" if problems else "ok"
        yield Outcome(title, status, problems, notes, time.perf_counter() - begin, trace)
        is_broken = bool(problems) and rule in essential


def raise_broken(name: str, outcomes: Iterable[Outcome]) -> None:
    """Raise ContractError if a rule is broken, with one line for each problem."""
    lines = [f"{outcome.rule}: {problem}" for outcome in outcomes for problem in outcome.problems]
    if lines:
        raise ContractError(f"{name} breaks its contract:\n  " + "\n  ".join(lines))
