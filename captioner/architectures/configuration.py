"""A JSON mapping becomes a frozen config: unknown keys, missing keys and wrong types are named, never guessed at."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from captioner.architectures.capabilities import Misconfigured

Config = TypeVar("Config")
WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


def read_file(path: str | Path) -> dict[str, Any]:
    """The JSON object in a file.  :raises Misconfigured: there is none."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise Misconfigured(f"{path} must hold one JSON object")
    return content


def read(config_class: type[Config], mapping: Mapping[str, Any]) -> Config:
    """An instance of a dataclass from `mapping`; lists become tuples.  :raises Misconfigured: a key does not fit."""
    fields = {field.name: field for field in dataclasses.fields(config_class)}  # type: ignore[arg-type]
    if unknown := sorted(set(mapping) - set(fields)):
        raise Misconfigured(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(fields))}")
    hints = typing.get_type_hints(config_class)
    for name, field in fields.items():
        if name not in mapping and field.default is field.default_factory is dataclasses.MISSING:
            raise Misconfigured(f"{name}: this key is required")
    return config_class(**{name: _fit(name, value, hints[name]) for name, value in mapping.items()})


def positive(**numbers: float | None) -> None:
    """:raises Misconfigured: one of the numbers is not above 0. None is let through."""
    for name, number in numbers.items():
        if number is not None and not number > 0:
            raise Misconfigured(f"{name}: must be above 0, not {number}")


def _fit(name: str, value: Any, hint: Any) -> Any:
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise Misconfigured(f"{name}: must be a list of texts")
        return tuple(value)
    if typing.get_origin(hint) in (Mapping, dict):
        if not isinstance(value, dict):
            raise Misconfigured(f"{name}: must be an object")
        return value
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if float in options and type(value) is int:
        return float(value)
    if type(value) not in options:  # exact: JSON's true is no number
        raise Misconfigured(f"{name}: must be {' or '.join(WORDS[option] for option in options)}")
    return value
