"""A third party: answers each request after DELAY_MS, at any concurrency, and sends no spans."""
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DELAY_S = int(os.environ["DELAY_MS"]) / 1000


class Quote(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Header and body are written one after the other, and must not wait for the acknowledgement in between.
    disable_nagle_algorithm = True

    def do_GET(self):
        time.sleep(DELAY_S)
        body = b'{"price": 42}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", int(os.environ["PORT_UPSTREAM"])), Quote).serve_forever()
