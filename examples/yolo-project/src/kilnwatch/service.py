"""The web service: the last firing as JSON."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

READINGS: list[dict[str, float]] = []


class Firing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(READINGS).encode())


def main() -> None:
    HTTPServer(("127.0.0.1", 8421), Firing).serve_forever()
