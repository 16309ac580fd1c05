"""Racing saves: `python -m tests.reliability.races --database sqlite|postgresql`.

In each round twenty authors, who all saw the same version, save at once through HTTP. Shown: one winner a version, the
losers get 409 with their text in the answer, no human text overwritten, as many decisions as winners, repeats once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from dataclasses import asdict, dataclass, field

from tests.reliability.site import Site


@dataclass
class Result:
    """Counts of one run over `rounds` x `threads` saves."""

    database: str
    rounds: int
    threads: int
    winners: int = 0
    losers_told: int = 0
    other_answers: dict[str, int] = field(default_factory=dict)
    rounds_with_one_winner: int = 0
    overwritten: int = 0
    decisions: int = 0
    repeats: int = 0
    repeat_decisions: int = 0
    wall_seconds: float = 0.0

    @property
    def sound(self) -> bool:
        return (
            self.winners == self.rounds_with_one_winner == self.rounds == self.decisions
            and self.losers_told == self.rounds * (self.threads - 1)
            and self.overwritten == 0
            and self.repeat_decisions == 1
        )


def run(*, database: str, rounds: int, threads: int) -> Result:
    """One bounded run on a site of its own."""
    with Site(database=database) as site:
        from django.contrib.auth import get_user_model
        from django.contrib.auth.models import Permission

        [placement] = site.placements(1)
        right = Permission.objects.get(codename="change_illustration")
        users = [get_user_model().objects.create_user(f"author{number}") for number in range(threads)]
        for user in users:
            user.user_permissions.add(right)
        result = Result(database=database, rounds=rounds, threads=threads)
        started = time.monotonic()
        clients = [_client(user) for user in users]
        for number in range(rounds):
            _round(placement, clients, number, result)
        _repeat(placement, clients[0], result)
        result.decisions = placement.decisions.filter(final_text__startswith="Round ").count()
        result.wall_seconds = round(time.monotonic() - started, 1)
        return result


def _client(user):
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client


def _form(placement, text: str, key: uuid.UUID) -> dict[str, str]:
    from alttext.operations import decisions

    seen = decisions.seen(placement)
    return {
        "text": text,
        "version": str(seen.version),
        "content_hash": seen.content_hash,
        "context_hash": seen.context_hash,
        "alt_hash": seen.alt_hash,
        "key": str(key),
    }


def _together(calls) -> list:
    from django.db import connection

    answers, barrier = [None] * len(calls), threading.Barrier(len(calls))

    def one(index, call):
        try:
            barrier.wait()
            answers[index] = call()
        finally:
            connection.close()

    workers = [threading.Thread(target=one, args=item) for item in enumerate(calls)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return answers


def _round(placement, clients, number: int, result: Result) -> None:
    from alttext.project.demo.models import Illustration

    placement.refresh_from_db()
    before = placement.decisions.count()
    address = f"/alttext/placement/{placement.pk}/save/"
    texts = [f"Round {number} author {index}" for index in range(len(clients))]
    forms = [_form(placement, text, uuid.uuid4()) for text in texts]
    answers = _together(
        [
            lambda client=client, form=form: client.post(address, form, headers={"hx-request": "true"})
            for client, form in zip(clients, forms, strict=True)
        ]
    )
    won = [
        text for text, answer in zip(texts, answers, strict=True) if answer is not None and answer.status_code == 200
    ]
    for text, answer in zip(texts, answers, strict=True):
        if answer is None:
            result.other_answers["raised"] = result.other_answers.get("raised", 0) + 1
        elif answer.status_code == 409:
            result.losers_told += text in answer.content.decode()
        elif answer.status_code != 200:
            name = str(answer.status_code)
            result.other_answers[name] = result.other_answers.get(name, 0) + 1
    placement.refresh_from_db()
    stored = Illustration.objects.get(pk=placement.key.split(":")[1]).alt_text
    result.winners += len(won)
    result.rounds_with_one_winner += len(won) == 1 and placement.decisions.count() == before + 1
    result.overwritten += won != [stored]


def _repeat(placement, client, result: Result) -> None:
    """The same request ten times at once counts once."""
    from django.test import Client

    placement.refresh_from_db()
    form = _form(placement, "The same request", uuid.uuid4())
    address = f"/alttext/placement/{placement.pk}/save/"
    clients = []
    for _ in range(10):
        twin = Client()
        twin.cookies = client.cookies
        clients.append(twin)
    _together([lambda twin=twin: twin.post(address, form, headers={"hx-request": "true"}) for twin in clients])
    result.repeats = len(clients)
    result.repeat_decisions = placement.decisions.filter(final_text="The same request").count()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], help="both if not given")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=20)
    options = parser.parse_args()
    if options.database is None:
        command = [
            sys.executable,
            "-m",
            "tests.reliability.races",
            f"--rounds={options.rounds}",
            f"--threads={options.threads}",
        ]
        return max(subprocess.call([*command, "--database", name], env=os.environ) for name in ("sqlite", "postgresql"))
    result = run(database=options.database, rounds=options.rounds, threads=options.threads)
    print(json.dumps(asdict(result)))
    return 0 if result.sound else 1


if __name__ == "__main__":
    sys.exit(main())
