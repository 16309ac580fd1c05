"""The phraser of the gate's tests, and a server on this machine that speaks the protocol."""

import threading

import pytest

from tests.captioner.backends.test_remote import Speaker
from tests.captioner.gate.conftest import phraser

__all__ = ["phraser"]


@pytest.fixture
def serve():
    """Start a server for a function (number, body) -> answer; stopped after the test."""
    started = []

    def start(answer):
        def speak(number, body):
            said = answer(number, body)
            return (200, {}, said) if isinstance(said, dict) else said

        server = Speaker(speak)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()
