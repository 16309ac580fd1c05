"""Constrained writing: a language model may choose among texts that evidence allows, word by word, and add none.

The texts form a tree of tokens; at each step only its branches are open. Knows neither evidence nor pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from captioner.rooms.decode import search
from captioner.rooms.decode.search import Steps, Written


class Tree:
    """Token sequences by prefix; a text may end only where one of them does."""

    def __init__(self, texts: Sequence[Sequence[int]], end: int) -> None:
        self.end = end
        self.longest = max(map(len, texts), default=0)
        self._root: dict[int, Any] = {}
        for text in texts:
            node = self._root
            for token in (*text, end):
                node = node.setdefault(token, {})

    def allowed(self, row: int, tokens: Sequence[int]) -> list[int]:
        """Ids that may follow `tokens`, in any row; [] after a text that is none of ours."""
        node = self._root
        for token in tokens:
            node = node.get(token, {})
        return list(node)


def choose(steps: Steps, texts: Sequence[Sequence[int]], end: int, *, beams: int = 6) -> list[Written]:
    """The likeliest of `texts` after the ONE prompt of `steps`, best first, by mean log-probability per token.

    Exact for at most `beams` texts; of more, a likelier one may fall out of the beam at an early word.

    Log-probabilities are those of the free model: how likely it finds the text at all, not only among these.
    """
    tree = Tree(texts, end)
    return search.beam(steps, end, beams=beams, max_tokens=tree.longest + 1, length_penalty=1.0, allowed=tree.allowed)
