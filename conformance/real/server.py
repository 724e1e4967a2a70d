#!/usr/bin/env python3
"""A stand-in for the API that the load, stress and spike scripts of web34-moheyum call.

    python3 conformance/real/server.py CERTIFICATE KEY

Prints its port, answers over TLS until its standard input ends, then prints what it has seen as JSON:
`{"POST /api/auth/signin 201": 1, ...}`. Requests without the cookies that sign-in hands out are answered with 401.
"""

import collections
import http.cookies
import http.server
import json
import ssl
import sys
import threading

AUTHOR = "author1"
COOKIES = {"r_t": "refresh-token", "a_t": "access-token"}
POSTS = [{"_id": f"post{n}", "author": AUTHOR, "description": "hello"} for n in range(1, 4)]


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    seen = collections.Counter()
    lock = threading.Lock()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        if self.path != "/api/auth/signin" or not body.get("userid"):
            return self.answer(400, {"statusCode": 400})
        self.answer(201, {"data": {"userid": body["userid"]}}, COOKIES)

    def do_GET(self):
        sent = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        if {name: morsel.value for name, morsel in sent.items()} != COOKIES:
            return self.answer(401, {"statusCode": 401})
        data = self.data(self.path.removeprefix("/api/"))
        self.answer(404 if data is None else 200, {"data": data})

    def data(self, path):
        if path == "post/newsfeed":
            return {"post": POSTS, "next": None}
        if path.startswith("post/"):
            return {"post": {"_id": path.split("/")[1], "author": AUTHOR}}
        if path.startswith("user/"):
            return {"userid": path.split("/")[1], "nickname": "nick"}
        if path.startswith("follow/list/following/"):
            return {"list": [{"userid": "friend"}]}
        return None

    def answer(self, status, content, cookies=None):
        with self.lock:
            self.seen[f"{self.command} {self.path} {status}"] += 1
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (cookies or {}).items():
            self.send_header("Set-Cookie", f"{name}={value}; Path=/; HttpOnly")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, context):
        super().__init__(("127.0.0.1", 0), Api)
        self.context = context

    def finish_request(self, request, address):
        # The handshake is made on the connection's own thread: a slow client must not hold up the others.
        super().finish_request(self.context.wrap_socket(request, server_side=True), address)

    def handle_error(self, *_):
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = Server(context)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    server.shutdown()
    print(json.dumps(dict(sorted(Api.seen.items()))))


if __name__ == "__main__":
    main()
