"""The phraser of the gate's tests, and a server on this machine that speaks the protocol."""

from tests.captioner.backends.test_remote import serve
from tests.captioner.gate.conftest import phraser

__all__ = ["phraser", "serve"]
