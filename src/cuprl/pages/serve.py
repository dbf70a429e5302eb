"""A run's page served to this machine's own browsers, while the run goes on. Nothing is written into the run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cuprl.errors import UserError
from cuprl.pages.html import as_json, page
from cuprl.pages.reading import read_run, read_video
from cuprl.pages.run_data import run_page
from cuprl.runs.folder import Run

ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")  # another name that leads here is a stranger's page which would read ours
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
Answer = tuple[HTTPStatus, str, str]  # status, kind, content


class Server(ThreadingHTTPServer):
    """Serves a page and its data, made anew each time that they are asked for."""

    daemon_threads = True  # a browser that keeps its connection open does not hold the end

    def __init__(self, port: int, data: Callable[[], dict[str, Any]], video: Callable[[], tuple[str, str]]):
        self.data, self.video = data, video
        try:
            super().__init__((ADDRESS, port), Handler)
        except (OSError, OverflowError) as error:
            why = str(getattr(error, "strerror", None) or error).removesuffix(".")
            raise UserError(f"port {port} cannot be used ({why}); give another with --port, or 0 for any.") from None

    @property
    def url(self) -> str:
        """Say where the page is, for a browser on this machine."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that leaves before it has its answer: that is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def answer(self, path: str) -> Answer:
        """Answer a path with status, kind and content."""
        try:
            if path == "/":
                return HTTPStatus.OK, "text/html", page(self.data(), self.video(), live=True)
            if path == "/data.json":
                return HTTPStatus.OK, "application/json", as_json(self.data())
        except (UserError, OSError) as error:  # as while a file is being replaced: the next look may find it whole
            return HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", str(error)
        return HTTPStatus.NOT_FOUND, "text/plain", "there is only /"


class Handler(BaseHTTPRequestHandler):
    """Answers a browser on this machine, and no other."""

    server: Server

    def do_GET(self) -> None:
        """Answer a request; one that names another host is refused."""
        host = self.headers.get("Host", "").rpartition(":")
        name = host[0] if host[1] and host[2].isdecimal() else "".join(host)
        if name.lower() not in HOSTS:
            self.send(HTTPStatus.FORBIDDEN, "text/plain", f"this page is for {' and '.join(HOSTS)} alone")
        else:
            self.send(*self.server.answer(self.path.partition("?")[0]))

    def send(self, status: HTTPStatus, kind: str, content: str) -> None:
        """Send an answer with its headers."""
        body = content.encode()
        self.send_response(status)
        for name, value in {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": len(body), **HEADERS}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: every request would be a line every two seconds."""


def server_of(run: str | Path, port: int) -> Server:
    """Make a server of a run's page, which is not serving yet; port 0: any that is free."""
    path = Run(run).path

    def data() -> dict[str, Any]:
        return run_page(read_run(Run(path)))  # opened anew: it may have been given more steps

    return Server(port, data, lambda: read_video(path))
