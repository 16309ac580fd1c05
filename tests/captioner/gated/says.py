"""A writer that says what it was told to: the fake at the writer's seam, so that policies can be seen alone."""

from captioner.architectures.capabilities import Capabilities
from captioner.types import Drafts


class Says:
    """It keeps what it was asked.  :ivar drafts: a `Drafts`, a text, or a function of picture and prompt."""

    name = "says"
    special = ("<|turn|>",)

    def __init__(self, drafts="", *, languages=("en",)) -> None:
        self.drafts, self.asked = drafts, []
        self.versions = {"writer": "says 1"}
        self.capabilities = Capabilities(languages=tuple(languages))

    def count(self, text: str) -> int:
        return len(text.split())

    def draft(self, image, prompt, *, samples, seed, deadline_seconds) -> Drafts:
        self.asked.append({"prompt": prompt, "samples": samples, "seed": seed, "left": deadline_seconds})
        if isinstance(self.drafts, str):
            return Drafts(self.drafts, (self.drafts,) * samples, mean_log_probability=-0.2, gap=1.0)
        return self.drafts
