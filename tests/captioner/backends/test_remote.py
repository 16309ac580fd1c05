"""The client against a server on this machine that speaks the protocol, well and badly."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from PIL import Image

from captioner.architectures.capabilities import Misconfigured, OutOfTime, Writer
from captioner.architectures.remote import Remote
from captioner.architectures.server import ServerRefused
from captioner.prepare import answers
from captioner.prepare.prompts import Prompt
from captioner.types import CaptionError, CaptionerUnavailable, Drafts

KEY = "sk-very-secret-4711"
PROMPT = Prompt("Write alt text.", "<page>\ntitle: Beach\n</page>", "Describe the image.")


def choice(text, *, logprobs=None, finish="stop", index=0):
    told = {"content": [{"token": "x", "logprob": value} for value in logprobs]} if logprobs else None
    return {
        "index": index,
        "message": {"role": "assistant", "content": text},
        "finish_reason": finish,
        "logprobs": told,
    }


def completion(*texts, usage=None, **rest):
    body = {"object": "chat.completion", "choices": [choice(text, index=at, **rest) for at, text in enumerate(texts)]}
    return body | ({"usage": usage} if usage else {})


class Speaker(ThreadingHTTPServer):
    """A server whose answers come from a function (number of the request, body) -> (status, headers, bytes or dict)."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.bodies, self.headers_seen = answer, [], []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.headers_seen.append((self.path, dict(self.headers)))
        answer = self.server.answer(len(self.server.bodies), body)
        if answer is None:  # hang up without a word
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers, content = answer
        content = json.dumps(content).encode() if isinstance(content, dict) else content
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def serve():
    """Start a server for a function, an answer, or a list of answers in order; stopped after the test."""
    started = []

    def start(answer):
        def speak(number, body):
            said = answer[min(number, len(answer)) - 1] if isinstance(answer, list) else answer
            said = said(number, body) if callable(said) else said
            return (200, {}, said) if isinstance(said, dict) else said

        server = Speaker(speak)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def remote(server, **keys):
    url = server if isinstance(server, str) else server.url
    return Remote.from_config({"base_url": url, "model": "tiny", "languages": ["en"], **keys})


def draft(writer, *, samples=0, seconds=5.0, seed=7) -> Drafts:
    return writer.draft(
        Image.new("RGB", (64, 32), (200, 10, 10)), PROMPT, samples=samples, seed=seed, deadline_seconds=seconds
    )


def test_it_is_a_writer_that_says_what_it_can(serve):
    writer = remote("http://127.0.0.1:9/v1", max_context=4096, licence="Apache-2.0")
    assert isinstance(writer, Writer)
    assert not writer.capabilities.supports_vcd
    assert writer.capabilities.writes("en-GB")
    assert not writer.capabilities.writes("de")
    assert (writer.capabilities.max_context, writer.capabilities.licence) == (4096, "Apache-2.0")


def test_a_text_comes_with_samples_probability_blank_twin_and_counts(serve):
    """Mean of -0.1, -0.2 and -0.6 is -0.9 / 3 = -0.3 nats per token."""

    def answer(number, body):
        usage = {"prompt_tokens": 300, "completion_tokens": 3, "prompt_tokens_details": {"image_tokens": 256}}
        if number == 1:
            return completion("A dog.", logprobs=[-0.1, -0.2, -0.6], usage=usage)
        return (
            completion(*["A dog.", "A hound.", "A cat."][: body["n"]]) if "n" in body else completion("A grey field.")
        )

    server = serve(answer)
    drafts = draft(remote(server), samples=3)
    assert drafts.text == "A dog."
    assert drafts.samples == ("A dog.", "A hound.", "A cat.")
    assert drafts.mean_log_probability == pytest.approx(-0.3)
    assert drafts.blank_text == "A grey field."
    assert drafts.gap is None
    assert drafts.tokens == {"prompt": 300, "text": 3, "image": 256}
    assert [body["temperature"] for body in server.bodies] == [0.0, 0.8, 0.0]


def test_the_picture_goes_as_bytes_before_the_words(serve):
    server = serve(completion("A dog."))
    draft(remote(server, longest_edge_px=16, blank=False))
    system, user = server.bodies[0]["messages"]
    assert system == {"role": "system", "content": PROMPT.system}
    picture, words = user["content"]
    assert words == {"type": "text", "text": PROMPT.after_image}
    head, _, data = picture["image_url"]["url"].partition(",")
    assert head == "data:image/jpeg;base64"
    sent = Image.open(io.BytesIO(base64.b64decode(data)))
    assert sent.size == (16, 8)
    assert sent.getpixel((4, 4))[0] > 180


def test_the_blank_picture_is_grey_and_of_the_same_size(serve):
    server = serve(completion("A dog."))
    draft(remote(server))
    data = server.bodies[1]["messages"][1]["content"][0]["image_url"]["url"].partition(",")[2]
    sent = Image.open(io.BytesIO(base64.b64decode(data)))
    assert sent.size == (64, 32)
    assert sent.getextrema() == ((128, 128),) * 3


def test_samples_are_asked_for_singly_where_n_is_ignored(serve):
    server = serve(lambda number, body: completion(f"Text {body['seed']}"))
    writer = remote(server, blank=False)
    first = draft(writer, samples=3, seed=10)
    assert first.samples == ("Text 11", "Text 12", "Text 13")
    assert [body.get("n") for body in server.bodies] == [None, 3, None, None]
    assert draft(writer, samples=3, seed=10) == first  # now it knows, and asks no more for three at once
    assert [body.get("n") for body in server.bodies[4:]] == [None, None, None, None]


def test_samples_are_asked_for_singly_where_n_is_an_error(serve):
    def answer(number, body):
        if "n" in body:
            return 400, {}, {"error": {"message": "n > 1 is not supported"}}
        return completion(f"Text {body['seed']}")

    assert draft(remote(serve(answer), blank=False), samples=2, seed=1).samples == ("Text 2", "Text 3")


def test_no_log_probabilities_are_none_and_no_zero(serve):
    assert draft(remote(serve(completion("A dog.")))).mean_log_probability is None
    odd = completion("A dog.")
    odd["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": None}]}
    assert draft(remote(serve(odd))).mean_log_probability is None


def test_missing_usage_leaves_the_counts_out(serve):
    assert draft(remote(serve(completion("A dog.")))).tokens == {}


def test_a_slow_server_is_out_of_time(serve):
    server = serve(lambda number, body: time.sleep(2) or completion("late"))
    started = time.monotonic()
    with pytest.raises(OutOfTime):
        draft(remote(server), seconds=0.3)
    assert time.monotonic() - started < 1.5


def test_a_server_that_drips_is_out_of_time_too():
    """One byte each 0.1 s: every single wait is short, so only a clock over the whole can end it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip():
            peer, _ = listener.accept()
            with peer:
                for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b" " * 100:
                    try:
                        peer.send(bytes([byte]))
                    except OSError:
                        return
                    time.sleep(0.1)

        threading.Thread(target=drip, daemon=True).start()
        started = time.monotonic()
        with pytest.raises(OutOfTime):
            draft(remote(f"http://127.0.0.1:{listener.getsockname()[1]}"), seconds=0.5)
        assert time.monotonic() - started < 2


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_after_the_time_it_names(serve, status):
    server = serve([(status, {"Retry-After": "1"}, {"error": "busy"}), completion("A dog.")])
    started = time.monotonic()
    assert draft(remote(server, blank=False)).text == "A dog."
    assert 1.0 <= time.monotonic() - started < 3


def test_a_server_that_stays_busy_is_unavailable_within_the_deadline(serve):
    server = serve((429, {}, {"error": "busy"}))
    started = time.monotonic()
    with pytest.raises(CaptionerUnavailable, match="too busy"):
        draft(remote(server), seconds=2)
    assert time.monotonic() - started < 2.5
    assert 2 <= len(server.bodies) <= 4  # after about 0.5 and 1 s


def test_a_wait_beyond_the_deadline_is_not_waited(serve):
    started = time.monotonic()
    with pytest.raises(CaptionerUnavailable):
        draft(remote(serve((503, {"Retry-After": "Fri, 31 Dec 2049 23:59:59 GMT"}, b""))), seconds=5)
    assert time.monotonic() - started < 1


def test_nobody_there_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(CaptionerUnavailable, match="cannot be reached"):
        draft(remote(f"http://127.0.0.1:{port}/v1"))


def test_a_gateway_without_a_server_is_unavailable(serve):
    with pytest.raises(CaptionerUnavailable):
        draft(remote(serve((502, {}, b"<html>Bad Gateway</html>"))))


@pytest.mark.parametrize("status", [400, 404, 413, 500])
def test_an_error_is_told_in_the_servers_words_cut_short(serve, status):
    server = serve((status, {}, {"error": {"message": "the prompt is\ntoo long " + "x" * 5000}}))
    with pytest.raises(ServerRefused, match=f"answered {status}: the prompt is too long") as caught:
        draft(remote(server))
    assert not isinstance(caught.value, CaptionerUnavailable)
    assert len(str(caught.value)) < 300
    assert len(server.bodies) == 1


def test_a_dropped_connection_is_an_error_that_counts(serve):
    with pytest.raises(CaptionError, match="broke the line") as caught:
        draft(remote(serve(lambda number, body: None)))
    assert not isinstance(caught.value, CaptionerUnavailable)


def test_an_answer_that_ends_early_is_an_error(serve):
    server = serve((200, {"Content-Length": "500", "Connection": "close"}, b'{"choices": []}'))
    server.RequestHandlerClass = type("Closing", (Handler,), {"protocol_version": "HTTP/1.0"})
    with pytest.raises(CaptionError, match="broke the line"):
        draft(remote(server))


@pytest.mark.parametrize(
    "content",
    [
        b"not json",
        b"\xff\xfe",
        b"[1, 2]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [1]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_not_the_protocol_is_an_error(serve, content):
    with pytest.raises(CaptionError):
        draft(remote(serve((200, {}, content))))


def test_a_huge_answer_is_not_read_to_its_end(serve):
    with pytest.raises(CaptionError, match="more than 1000 bytes"):
        draft(remote(serve((200, {}, b" " * 5_000_000)), max_response_bytes=1000))


def test_a_redirect_is_not_followed(serve):
    elsewhere = serve(completion("A dog."))
    server = serve((307, {"Location": elsewhere.url + "/chat/completions"}, b""))
    with pytest.raises(ServerRefused, match="redirects elsewhere"):
        draft(remote(server))
    assert elsewhere.bodies == []


@pytest.mark.parametrize(
    "answer",
    [
        completion("I'm sorry, but I can't help with that."),
        completion(""),
        completion(None),
        completion("A dog.", finish="content_filter"),
        {"choices": [{"message": {"content": None, "refusal": "I can't."}}]},
    ],
)
def test_a_refusal_is_an_empty_text_and_nothing_more_is_asked(serve, answer):
    server = serve(answer)
    assert draft(remote(server), samples=3) == Drafts(text="")
    assert len(server.bodies) == 1


def test_markdown_label_and_quotes_are_gone(serve):
    assert draft(remote(serve(completion('**Alt text:** "A *red* dog."')))).text == "A red dog."


def test_text_in_parts_is_joined(serve):
    parts = [{"type": "text", "text": "A red "}, {"type": "text", "text": "dog."}]
    assert draft(remote(serve(completion(parts)))).text == "A red dog."


def test_an_answer_cut_at_the_limit_ends_at_a_sentence_and_is_counted(serve):
    drafts = draft(remote(serve(completion("A dog sits. It looks at", finish="length"))))
    assert drafts.text == "A dog sits."
    assert drafts.tokens == {"cut": 1}


def test_another_language_than_asked_for_can_be_told_from_the_draft(serve):
    text = draft(remote(serve(completion("Ein Hund sitzt am Strand.")))).text
    assert answers.is_other_language(text, "en")
    assert not answers.is_other_language(text, "de")


def test_the_key_stands_in_the_header_and_nowhere_else(serve, monkeypatch):
    monkeypatch.setenv("ALTTEXT_TEST_KEY", KEY)
    server = serve(completion("A dog."))
    writer = remote(server, api_key_env="ALTTEXT_TEST_KEY")
    draft(writer)
    path, headers = server.headers_seen[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(server.bodies)
    assert KEY not in repr((dict(writer.versions), writer.config, writer.capabilities, writer))


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_a_server_that_repeats_the_key_does_not_get_it_into_an_error(serve, monkeypatch, status):
    monkeypatch.setenv("ALTTEXT_TEST_KEY", KEY)
    server = serve((status, {}, {"error": {"message": f"Incorrect API key provided: {KEY}"}}))
    with pytest.raises(ServerRefused) as caught:
        draft(remote(server, api_key_env="ALTTEXT_TEST_KEY"))
    assert KEY not in str(caught.value)


def test_no_key_means_no_header(serve):
    server = serve(completion("A dog."))
    draft(remote(server))
    assert "Authorization" not in server.headers_seen[0][1]


def test_the_body_can_be_extended_but_not_taken_over(serve):
    server = serve(completion("A dog."))
    keys = {"extra": {"chat_template_kwargs": {"enable_thinking": False}}, "token_limit_key": "max_completion_tokens"}
    draft(remote(server, **keys))
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}
    assert server.bodies[0]["max_completion_tokens"] == 64
    with pytest.raises(Misconfigured, match="'messages' is set by the captioner"):
        remote(server, extra={"messages": []})


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"model": None}, "model: must be a text"),
        ({"languages": []}, "languages: name at least one"),
        ({"languages": "en"}, "languages: must be a list of texts"),
        ({"max_tokens": True}, "max_tokens: must be a whole number"),
        ({"max_tokens": 0}, "max_tokens: must be above 0"),
        ({"temperature": "warm"}, "temperature: must be a number"),
        ({"blank": 1}, "blank: must be true or false"),
        ({"extra": []}, "extra: must be an object"),
        ({"modle": "x"}, "unknown key 'modle'"),
        ({"base_url": "ftp://x"}, "base_url: must look like"),
        ({"base_url": "http://me:secret@x/v1"}, "base_url: must hold no user"),
        ({"base_url": "http://x:port/"}, "base_url:"),
        ({"api_key_env": "ALTTEXT_NOT_SET"}, "ALTTEXT_NOT_SET is not set"),
        ({"token_limit_key": "tokens"}, "token_limit_key"),
    ],
)
def test_a_wrong_configuration_is_named(keys, says):
    with pytest.raises(Misconfigured, match=says):
        remote("http://127.0.0.1:1/v1", **keys)


def test_a_missing_key_of_the_configuration_is_named():
    with pytest.raises(Misconfigured, match="model: this key is required"):
        Remote.from_config({"base_url": "http://127.0.0.1:1", "languages": ["en"]})


def test_the_versions_change_with_the_revision_and_hold_only_texts():
    one, two = (remote("http://127.0.0.1:1/v1", revision=revision).versions for revision in ("a", "b"))
    assert one != two
    assert all(type(value) is str for value in one.values())


def test_the_estimate_of_tokens_is_no_smaller_than_words():
    text = "Our espresso is roasted here since 1998."
    assert remote("http://127.0.0.1:1").count(text) >= len(text.split())
    assert remote("http://127.0.0.1:1").count("") == 0


def test_the_client_loads_no_torch():
    code = (
        "import sys, captioner.architectures.remote; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
