"""The publisher of all entries: answers each request with an entry's page after DELAY_MS, at any concurrency."""
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DELAY_S = int(os.environ["DELAY_MS"]) / 1000
PAGE = b"<!doctype html><title>A page</title><article>" + b"<p>A paragraph, of which the feed has only the first.</p>" * 10 + b"</article>"


class Publisher(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Header and body are written one after the other, and must not wait for the acknowledgement in between.
    disable_nagle_algorithm = True

    def do_GET(self):
        time.sleep(DELAY_S)
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", int(os.environ["PORT_PUBLISHER"])), Publisher).serve_forever()
