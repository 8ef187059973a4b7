"""Values of a JSON document that know their place in it, for messages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Never

from crawlgauge.errors import OverlapError

__all__ = ["Node", "parse_json", "shorten"]

_MAX_COUNT = 2**63 - 1
_MAX_NUMBER = 1e300
_SHOWN = 60
_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value in a JSON document, with its path for messages."""

    name: str
    path: str
    value: Any

    def fail(self, problem: str) -> Never:
        """Raise an error that names file and place."""
        raise OverlapError(f"{self.name}, at {self.path}: {problem}")

    def of(self, kind: type) -> Any:  # noqa: ANN401 - the kind is only known at run time
        """Return the value if it is of that kind."""
        if not isinstance(self.value, kind):
            self.fail(f"{_KINDS[kind]} is needed, not {shorten(self.value)}")
        return self.value

    def member(self, key: str) -> "Node":
        """Return a member that must be there."""
        if key not in self.of(dict):
            self.fail(f"the member {key!r} is missing")
        return self.get(key)

    def get(self, key: str) -> "Node":
        """Return a member; its value is None if it is not there."""
        path = f"{self.path}.{key}"
        return Node(name=self.name, path=path, value=self.of(dict).get(key))

    def items(self, length: int | None = None) -> list["Node"]:
        """Return the items of a list, which must be `length` if that is given."""
        values = self.of(list)
        if length is not None and len(values) != length:
            self.fail(f"{length} items are needed, not {len(values)}")
        return [
            Node(name=self.name, path=f"{self.path}[{k}]", value=value)
            for k, value in enumerate(values)
        ]

    def number(self) -> float:
        """Return a number of at least 0."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"a number is needed, not {shorten(value)}")
        if not 0 <= value <= _MAX_NUMBER:
            self.fail(f"{shorten(value)} is not within 0 to {_MAX_NUMBER}")
        return float(value)

    def count(self) -> int:
        """Return a whole number of at least 0."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(f"a whole number is needed, not {shorten(value)}")
        if not 0 <= value <= _MAX_COUNT:
            self.fail(f"{shorten(value)} is not within 0 to {_MAX_COUNT}")
        return value


def parse_json(text: str, *, name: str) -> object:
    """Parse JSON text, refusing what only Python takes for JSON.

    Raises
    ------
    OverlapError
        If it is not JSON.
    """
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise OverlapError(
            f"{name}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}; "
            "was the file cut off?"
        ) from error
    except (ValueError, RecursionError) as error:
        raise OverlapError(f"{name} cannot be read as JSON: {error}") from error


def shorten(value: object) -> str:
    """Write a value as JSON, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _refuse_constant(constant: str) -> Never:
    raise ValueError(f"{constant} is no JSON; a missing number is null")
