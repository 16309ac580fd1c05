"""The act "Ask for alternative texts" on chosen images of the library. It asks; a person decides on each text later."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from wagtail.images.views.bulk_actions.image_bulk_action import ImageBulkAction

from alttext import adapters, queries, tasks
from alttext.contrib.wagtail import keys
from alttext.contrib.wagtail.forms import Asked, AskForm
from alttext.models import Job
from alttext.operations import placements
from alttext.operations.jobs import TooManyOpenJobs
from alttext.operations.suggestions import AlreadyAnswered, NothingToAsk

HAS_TEXT = "has a description already"
WAITS = "waits for a text already"
ANSWERED = "was looked at before, and the answer would be the same"
NOTHING = "needs no text, or its file is gone"
TOO_MANY = "over the limit of open requests; ask again once some are answered"


class AskBulkAction(ImageBulkAction):
    """Ask for a text for the description of each chosen image."""

    display_name = "Ask for alternative texts"
    action_type = "alttext_ask"
    aria_label = "Ask for alternative texts for the selected images"
    template_name = "alttext/wagtail/bulk_ask.html"
    action_priority = 60
    form_class = AskForm

    def __init__(self, request: Any, model: Any) -> None:
        super().__init__(request, model)
        self.asked = Asked()

    def check_perm(self, image: Any) -> bool:
        return self.permission_policy.user_has_permission_for_instance(self.request.user, "change", image)

    def get_execution_context(self) -> dict[str, Any]:
        return {"by": self.request.user, "asked": self.asked, **self.cleaned_form.kwargs()}

    @classmethod
    def execute_action(
        cls, objects: Any, *, by: Any = None, asked: Asked | None = None, again: bool = False, **kwargs: Any
    ) -> tuple[int, int]:
        """Ask for each image; those skipped are counted in `asked` by reason."""
        asked = asked or Asked()
        for image in objects:
            if reason := _ask(image, by=by, again=again):
                asked.skipped[reason] += 1
            else:
                asked.asked += 1
        return asked.asked, 0

    def get_success_message(self, num_parent_objects: int, num_child_objects: int) -> str:
        return str(self.asked)


def _ask(image: Any, *, by: Any, again: bool) -> str:
    """Ask about one image; gives why not, or an empty text."""
    adapter = adapters.get(keys.NAME)
    try:
        placement, _ = placements.refresh(adapter, adapter.place(keys.image_key(image.pk)), at=timezone.now())
        if placement.is_settled and not again:
            return HAS_TEXT
        if queries.is_waiting(placement):
            return WAITS
        tasks.enqueue_suggestion(placement=placement, by=by, prio=Job.BULK)
    except AlreadyAnswered:
        return ANSWERED
    except (NothingToAsk, adapters.NotThere):
        return NOTHING
    except TooManyOpenJobs:
        return TOO_MANY
    return ""
