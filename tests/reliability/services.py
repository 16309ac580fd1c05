"""Brokers for reliability runs: a Redis of our own on a free port, and the RabbitMQ that answers on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

RABBITMQ = os.environ.get("ALTTEXT_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672//")


class ServiceMissing(Exception):
    """The program or the server is not on this machine; the message says how to get it."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def redis_server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """(broker address, process).  :raises ServiceMissing: redis-server is not installed."""
    if shutil.which("redis-server") is None:
        raise ServiceMissing("redis-server is needed for the Redis runs. On Debian: apt-get install redis-server")
    port = free_port()
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait(port)
        yield f"redis://127.0.0.1:{port}/0", process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def rabbitmq_server() -> Iterator[tuple[str, None]]:
    """(broker address, None), with our queues empty.  :raises ServiceMissing: no RabbitMQ answers."""
    import kombu

    try:
        with kombu.Connection(RABBITMQ, connect_timeout=2) as connection:
            connection.ensure_connection(max_retries=1)
            for name in ("alttext-plain", "alttext-text"):
                connection.default_channel.queue_delete(name)
    except OSError as error:
        message = "RabbitMQ on 127.0.0.1:5672 is needed for these runs. On Debian: apt-get install rabbitmq-server"
        raise ServiceMissing(message) from error
    yield RABBITMQ, None


def _wait(port: int, *, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise ServiceMissing(f"The service on port {port} did not start.")
