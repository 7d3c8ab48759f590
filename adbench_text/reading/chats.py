"""Read conversations in JSON: every turn is a document.

A row has ``messages`` (objects with role and content, as of OpenAI and Anthropic) or ``conversations``
(objects with from and value, as of ShareGPT).
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from adbench_text.errors import DataError, listing
from adbench_text.reading.options import Losses, ReadOptions

TEXT = "content"  # the column of the text
_ID, _CONVERSATION, _TURN, _ROLE = "id", "conversation", "turn", "role"
_OURS = (_ID, _CONVERSATION, _TURN, _ROLE, TEXT)
_LISTS = ("messages", "conversations", "conversation")  # names of the list of turns
_IDS = ("id", "conversation_id", "uuid")  # names of the identifier of a conversation
_FORMS = ((_ROLE, TEXT), ("from", "value"))  # names of the role and of the text of a turn
_ROLES = {"human": "user", "gpt": "assistant"}  # ShareGPT's names

_Values = Iterator[tuple[Any, int]]  # values of JSON, with the lines where they begin


@dataclass
class Chats:
    """Divides the conversations of one file into turns. A file of other rows is left as it is."""

    name: str  # of the file
    options: ReadOptions
    losses: Losses
    chosen: Collection[str] = ()  # columns of the text that the user named
    is_part: bool = False  # whether other files are read, too
    is_found: bool = False  # whether the file has conversations; known after `looked_at`

    def looked_at(self, values: _Values) -> _Values:
        """Set `is_found` by the first values, and return all values.

        The first value decides that is not a conversation without turns. Only values up to it are read ahead.
        """
        ahead = []
        for row, line in values:
            ahead.append((row, line))
            if _turns_of(row) != []:  # a conversation without turns shows nothing; None is another row
                break
        self.is_found = bool(ahead) and self._is_chat(ahead[-1][0])
        return chain(ahead, values)

    def _is_chat(self, row: Any) -> bool:
        """Return whether a row is a conversation, and has no other text that is asked for."""
        turns = _turns_of(row)
        if not turns or not all(map(_form_of, turns)):
            return False
        asked = self.chosen or self.options.likely
        if asked and {*asked} <= row.keys():
            return False
        return bool(asked or self.options.role) or not isinstance(row.get("text"), str)

    def rows(self, values: _Values) -> Iterator[tuple[Mapping[str, Any], int]]:
        """Yield an object for each turn with a wanted role, with the line where its conversation begins.

        At the end, note the wanted roles that no turn has.
        """
        wanted = {_role(name).lower(): name for name in self.options.role}  # empty for all roles
        roles, number_of_conversation = dict[str, None](), 0
        for row, line in values:
            # the number of its line, or the next number if several conversations are in one line
            number_of_conversation = max(line, number_of_conversation + 1)
            turns = self._checked(row, line)
            if turns is None:
                continue
            conversation, others = self._facts(row, number_of_conversation)
            for number, turn in enumerate(turns, start=1):
                role_name, text_name = _form_of(turn) or _FORMS[0]
                role = _role(turn[role_name])
                roles[role] = None
                if not wanted or role.lower() in wanted:
                    of_turn = {
                        _ID: f"{conversation}#{number}",
                        _CONVERSATION: conversation,
                        _TURN: number,
                        _ROLE: role,
                        TEXT: _text(turn.get(text_name)),
                    }
                    yield {**of_turn, **others}, line
        seen = {role.lower() for role in roles}
        if lacking := [wanted[role] for role in wanted if role not in seen]:
            self.losses.note(
                f"No turn of {self.name} has the role {listing(map(repr, lacking))}. Its roles: "
                f"{listing(map(repr, roles))}.",
                "role",
            )

    def _checked(self, row: Any, line: int) -> list[Mapping[str, Any]] | None:
        """Return the turns of a row; None if it has none and such rows are skipped."""
        turns = _turns_of(row)
        if turns is not None and all(map(_form_of, turns)):
            return turns
        place = f"{self.name}, line {line:,}"
        if self.options.goes_on:
            self.losses.add("left out", place)
            return None
        what = "has no list of messages" if turns is None else "has a message without a role and content"
        raise DataError(
            f"{place} {what}, as the rows before: {json.dumps(row):.60}. --errors replace skips such rows."
        )

    def _facts(self, row: Mapping[str, Any], number: int) -> tuple[str, dict[str, Any]]:
        """Return the identifier of a conversation, and its fields that are copied to each turn.

        Without an identifier, `number` identifies the conversation in its file.
        """
        id_name = next((name for name in _IDS if _is_name(row.get(name))), None)
        place = f"{self.name}:{number}" if self.is_part else str(number)
        others = {}
        for name, value in row.items():
            if name in (*_OURS, *_LISTS, id_name):
                continue
            if isinstance(value, list | dict):
                self.losses.note(f"Left out the column {name!r}, which holds lists or objects.")
            else:
                others[name] = value
        return (place if id_name is None else str(row[id_name])), others


def _turns_of(row: Any) -> list[Any] | None:
    """Return the list of turns of a row, which may be empty; None if the row is no conversation."""
    if not isinstance(row, dict):
        return None
    return next((row[name] for name in _LISTS if isinstance(row.get(name), list)), None)


def _form_of(turn: Any) -> tuple[str, str] | None:
    """Return the names of the role and of the text of a turn; None for anything else."""
    if not isinstance(turn, dict):
        return None
    calls = "tool_calls" in turn or "function_call" in turn  # such a message may lack the content
    return next(
        (
            (role, text)
            for role, text in _FORMS
            if isinstance(turn.get(role), str) and (text in turn or (calls and text == TEXT))
        ),
        None,
    )


def _is_name(value: Any) -> bool:
    """Return whether a value can identify a conversation."""
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _role(name: str) -> str:
    """Return the name of a role, as OpenAI and Anthropic call it."""
    return _ROLES.get(name.lower(), name)


def _text(content: Any) -> Any:
    r"""Return the text of a content: of a list, its parts that are texts, without calls and images.

    >>> _text([{"type": "text", "text": "See"}, {"type": "image"}, {"type": "text", "text": "this"}])
    'See\nthis'
    """
    if not isinstance(content, list):
        return content
    texts = [
        part.get("text") if isinstance(part, dict) and part.get("type") == "text" else part
        for part in content
    ]
    return "\n".join(text for text in texts if isinstance(text, str))
