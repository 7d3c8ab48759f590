"""Web servers on this machine."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Hands requests to its server, and writes nothing to the terminal."""

    def _answer(self) -> None:
        self.server.answer(self)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815

    def send(self, body: bytes, status: int = 200, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A web server; `answers` maps a path to a body, or to what sends the answer."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Callable[[BaseHTTPRequestHandler], None]] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, request: Handler) -> None:
        self.asked.append(request.path)
        answer = self.answers.get(request.path)
        if answer is None:
            request.send_error(404)
        elif callable(answer):
            answer(request)
        else:
            request.send(answer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Let a server answer within a block."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
