"""One JSON request to one server within a deadline: no redirects, no proxies, a limit on the answer.

The key stands in a header and in no error. Standard library only. Knows nothing of captions.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import json
import os
import random
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from captioner.architectures.capabilities import Misconfigured, OutOfTime
from captioner.types import CaptionError, CaptionerUnavailable

BUSY = (429, 503)
GATEWAY = (502, 504)  # something stands in front of the server, and the server is away
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 8.0  # doubled at each try
WORDS_CHARS = 200  # of the server's own words in an error
CHUNK_BYTES = 65536


class ServerRefused(CaptionError):
    """The server answered with a status that is no success and will not change by waiting."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Server:
    """Something that answers JSON with JSON.

    :ivar address: scheme, host, port and path, without anything secret; fit for versions and messages.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key_variable: str = "",
        connect_seconds: float = 5.0,
        max_response_bytes: int = 1_000_000,
    ) -> None:
        """:raises Misconfigured: the URL is not plain http(s), or the key's variable is empty or no header value."""
        self.address, self._secure, self._host, self._port, self._path = _parts(base_url)
        self._key = _key(key_variable)
        self._connect_seconds, self._max_response_bytes = connect_seconds, max_response_bytes

    def post(self, path: str, body: Mapping[str, Any], *, ends_at: float) -> dict[str, Any]:
        """The JSON object that the server answers; waits and tries again while it is busy.

        :param ends_at: on the clock of `time.monotonic`.
        :raises OutOfTime: the server was too slow.
        :raises CaptionerUnavailable: nobody listens there, a gateway stands alone, or it is busy until the deadline.
        :raises ServerRefused: any other status that is no success.
        :raises CaptionError: the line broke, or the answer is too long or no JSON object.
        """
        payload = json.dumps(body).encode()
        for wait_seconds in _waits():
            status, headers, content = self._exchange(path, payload, ends_at)
            if status not in BUSY:
                return self._read(status, content)
            wait_seconds = max(wait_seconds, _retry_after(headers.get("Retry-After")))
            if time.monotonic() + wait_seconds >= ends_at:
                break
            time.sleep(wait_seconds)
        raise CaptionerUnavailable(f"{self.address} is too busy (status {status}).")

    def _exchange(self, path: str, payload: bytes, ends_at: float) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = self._connect(ends_at)
        late = threading.Event()
        clock = threading.Timer(_left(ends_at), _hang_up, (connection.sock, late))
        clock.daemon = True
        clock.start()  # a timeout of the socket restarts with every byte: a server that drips would hold us for ever
        try:
            connection.request("POST", self._path + path, payload, self._headers())
            response = connection.getresponse()
            content = self._read_limited(response)
            if late.is_set():
                raise OutOfTime(f"{self.address} was too slow.")
            return response.status, response.headers, content
        except TimeoutError as error:
            raise OutOfTime(f"{self.address} was too slow.") from error
        except (OSError, http.client.HTTPException) as error:
            if late.is_set():
                raise OutOfTime(f"{self.address} was too slow.") from error
            raise CaptionError(
                f"{self.address} broke the line: {self._words(str(error) or type(error).__name__)}"
            ) from error
        finally:
            clock.cancel()
            connection.close()

    def _connect(self, ends_at: float) -> http.client.HTTPConnection:
        seconds = min(self._connect_seconds, _left(ends_at))
        if self._secure:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=seconds, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        try:
            connection.connect()
            connection.sock.settimeout(_left(ends_at))
        except (OSError, UnicodeError) as error:  # UnicodeError: a host name that IDNA does not take
            connection.close()
            raise CaptionerUnavailable(f"{self.address} cannot be reached: {error}") from error
        return connection

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "alttext-captioner"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _read_limited(self, response: http.client.HTTPResponse) -> bytes:
        content = bytearray()
        while chunk := response.read1(CHUNK_BYTES):
            content += chunk
            if len(content) > self._max_response_bytes:
                raise CaptionError(f"{self.address} answered with more than {self._max_response_bytes} bytes.")
        if response.length:  # bytes that were promised and did not come
            raise http.client.IncompleteRead(b"", response.length)
        return bytes(content)

    def _read(self, status: int, content: bytes) -> dict[str, Any]:
        if status in GATEWAY:
            raise CaptionerUnavailable(f"{self.address} is not behind its gateway (status {status}).")
        if 300 <= status < 400:
            raise ServerRefused(
                status, f"{self.address} redirects elsewhere, which is not followed; set base_url to it."
            )
        if status in (401, 403):  # the server's words may repeat parts of the key
            raise ServerRefused(status, f"{self.address} does not accept the key (status {status}).")
        if status != 200:
            raise ServerRefused(status, f"{self.address} answered {status}: {self._words(_complaint(content))}")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise CaptionError(f"{self.address} answered with something that is not JSON.") from error
        if not isinstance(answer, dict):
            raise CaptionError(f"{self.address} answered with JSON that is no object.")
        return answer

    def _words(self, text: str) -> str:
        """The server's words on one line, cut short, without the key."""
        if self._key:
            text = text.replace(self._key, "[key]")
        text = " ".join(re.sub(r"[^\w\s.,:;!?'\"()/<>=+-]", " ", text).split())
        return text if len(text) <= WORDS_CHARS else text[:WORDS_CHARS].rstrip() + "…"


def _parts(base_url: str) -> tuple[str, bool, str, int, str]:
    try:
        url = urlsplit(base_url)
        port = url.port
    except ValueError as error:
        raise Misconfigured(f"base_url: {error}") from error
    if url.scheme not in ("http", "https") or not url.hostname:
        raise Misconfigured("base_url: must look like http://127.0.0.1:8000/v1")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise Misconfigured("base_url: must hold no user, password, query or fragment; name the key in api_key_env")
    secure = url.scheme == "https"
    path = url.path.rstrip("/")
    return f"{url.scheme}://{url.netloc}{path}", secure, url.hostname, port or (443 if secure else 80), path


def _key(variable: str) -> str:
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise Misconfigured(f"api_key_env: the environment variable {variable} is not set")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise Misconfigured(f"api_key_env: {variable} holds characters that no header can carry")
    return key


def _left(ends_at: float) -> float:
    seconds = ends_at - time.monotonic()
    if seconds <= 0:
        raise OutOfTime("The deadline passed before the server was asked.")
    return seconds


def _hang_up(sock: socket.socket, late: threading.Event) -> None:
    late.set()
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _waits() -> Iterator[float]:
    wait = FIRST_WAIT_SECONDS
    while True:
        yield wait * random.uniform(0.8, 1.2)  # noqa: S311  (so that many workers do not come back at once)
        wait = min(2 * wait, LONGEST_WAIT_SECONDS)


def _retry_after(value: str | None) -> float:
    """Seconds to wait, from seconds or an HTTP date (RFC 9110, 10.2.3); 0 where it says nothing usable."""
    if not value:
        return 0.0
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _complaint(content: bytes) -> str:
    """What an error body says, in the forms that servers use."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return content[: 4 * WORDS_CHARS].decode("utf-8", "replace")
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error)
