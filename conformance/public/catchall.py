#!/usr/bin/env python3
"""Answers for the whole Internet: DNS, HTTP, server-sent events, gRPC, TLS and WebSocket, for every name and every port.

    python3 conformance/public/catchall.py FOLDER PORT ROOT-OF-LIBRARIES

Only for a network namespace of its own (`run.py` makes it): every name is 127.0.0.1, every TCP connection arrives at
PORT. What is answered depends on method and path alone, so that two runs of a script see the same. Prints `ready`.
"""

import base64
import gzip
import hashlib
import json
import pathlib
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import calls

TLS_HANDSHAKE = 0x16
HEAD_BYTES_MAX = 64 << 10
BODY_BYTES_MAX = 64 << 20
IDLE_S = 120
WEBSOCKET_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
# Paths of these words are logins: a script that is refused there does nothing more.
LOGIN = re.compile(r"log-?in|sign-?in|auth|token|session|register|sign-?up", re.I)
REASONS = {200: "OK", 201: "Created", 204: "No Content", 302: "Found", 400: "Bad Request", 401: "Unauthorized",
           404: "Not Found", 500: "Internal Server Error"}


def item(number):
    return {"id": number, "_id": f"{number:024x}", "uuid": f"00000000-0000-4000-8000-{number:012d}", "name": f"item {number}",
            "title": f"title {number}", "email": f"user{number}@example.test", "username": f"user{number}", "price": 10.5 + number,
            "quantity": number, "status": "active", "active": True, "createdAt": "2024-01-01T00:00:00Z", "tags": ["a", "b"]}


def document():
    """An object in which most scripts find what they look for."""
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    facts = {**item(1), "token": token, "access_token": token, "accessToken": token, "refresh_token": token, "refreshToken": token,
             "jwt": token, "session_id": "s1", "sessionId": "s1", "success": True, "ok": True, "message": "ok", "code": 200, "error": None,
             "expires_in": 3600, "total": 3, "count": 3, "page": 1, "user": item(1)}
    several = [item(number) for number in (1, 2, 3)]
    inner = {**facts, "items": several}
    return {**facts, "status": "ok", "data": inner, "items": several, "results": several, "content": several, "users": several,
            "products": several, "posts": several, "result": inner, "payload": inner, "json": inner}


PAGE = """<!doctype html><html lang="en"><head><title>A page</title><meta name="csrf-token" content="c1">
<link rel="stylesheet" href="/site.css"><script src="/site.js"></script></head><body><h1>Welcome</h1>
<form action="/login" method="post"><input type="hidden" name="csrf_token" value="c1"><input name="username" value="u">
<input type="password" name="password"><select name="s"><option value="1" selected>one</option><option value="2">two</option></select>
<button type="submit">Sign in</button></form><ul><li><a href="/a?x=1">a</a></li><li><a href="/b">b</a></li></ul></body></html>"""


def answer(method, target):
    """Status, headers and body for a request."""
    path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4,}", "0", target.split("?")[0].split("#")[0])
    chance = hashlib.sha256(f"{method} {path}".encode()).digest()
    headers = {"Content-Type": "application/json; charset=utf-8", "X-Request-Id": chance[:8].hex(), "Cache-Control": "no-store"}
    last = path.rstrip("/").rsplit("/", 1)[-1]
    if LOGIN.search(path):
        headers["Set-Cookie"] = "session=s1; Path=/"
        return (201 if chance[0] % 4 == 0 and "regist" in path else 200), headers, json.dumps(document()).encode()
    if method in ("GET", "HEAD") and (path in ("", "/") or last.endswith((".html", ".htm", ".php"))):
        headers["Content-Type"] = "text/html; charset=utf-8"
        return 200, headers, PAGE.encode()
    if last.endswith((".css", ".js", ".png", ".jpg", ".svg", ".ico", ".woff2")):
        headers["Content-Type"] = "application/octet-stream"
        return 200, headers, chance * 8
    status = 200
    if method in ("GET", "HEAD"):
        status = {1: 302, 2: 404, 3: 500}.get(chance[0] % 20, 200)
    elif method == "POST":
        status = {0: 201, 1: 201, 2: 201, 3: 201, 4: 201, 5: 400, 6: 401}.get(chance[0] % 20, 200)
    elif method == "DELETE":
        status = 204 if chance[0] % 2 else 200
    if status == 302:
        headers["Location"] = "/landed"
        return status, headers, b""
    if status == 204:
        return status, headers, b""
    if status == 200 and method == "GET" and last.endswith("s") and chance[1] % 2:
        return status, headers, json.dumps([item(number) for number in (1, 2, 3)]).encode()
    return status, headers, json.dumps(document() if status < 400 else {"error": "refused", "message": "refused", "code": status}).encode()


class Authority:
    """Certificates for any name, of a certification authority made for this run."""

    def __init__(self, folder):
        self.folder, self.lock, self.contexts = folder, threading.Lock(), {}
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "ca.pem").exists():
            self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=sample",
                         "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key", "-out", "ca.pem")
            self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "leaf.key")

    def openssl(self, *command):
        subprocess.run(["openssl", *command], cwd=self.folder, check=True, capture_output=True)

    def context(self, name):
        with self.lock:
            if name not in self.contexts:
                self.contexts[name] = self.make(name)
            return self.contexts[name]

    def make(self, name):
        safe = re.sub(r"[^\w.-]", "_", name)[:100]
        kind = "IP" if re.fullmatch(r"[\d.]+|[0-9a-f:]+", name) else "DNS"
        (self.folder / f"{safe}.ext").write_text(f"subjectAltName={kind}:{name}\nextendedKeyUsage=serverAuth\n")
        self.openssl("req", "-new", "-key", "leaf.key", "-subj", "/CN=leaf", "-out", f"{safe}.csr")
        self.openssl("x509", "-req", "-in", f"{safe}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", str(abs(hash(name)) + 1), "-days", "20",
                     "-extfile", f"{safe}.ext", "-out", f"{safe}.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{safe}.pem", self.folder / "leaf.key")
        # A client of gRPC offers HTTP/2 alone; others get what they got before there were calls.
        context.set_alpn_protocols(["http/1.1", "h2"])
        return context

    def front(self, address):
        """A context that picks the certificate by the name asked for, or by the address dialled."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "ca.pem", self.folder / "ca.key")
        context.set_alpn_protocols(["http/1.1", "h2"])

        def pick(connection, name, _):
            connection.context = self.context(name or address)

        context.sni_callback = pick
        return context


def dialled(connection):
    """The address a client meant before the connection was redirected (SO_ORIGINAL_DST)."""
    try:
        return socket.inet_ntoa(connection.getsockopt(socket.SOL_IP, 80, 16)[4:8])
    except OSError:
        return "127.0.0.1"


class Stream:
    def __init__(self, connection):
        self.connection, self.kept = connection, b""

    def more(self):
        chunk = self.connection.recv(65536)
        if not chunk:
            raise EOFError
        self.kept += chunk

    def begins_with(self, mark):
        while len(self.kept) < len(mark):
            self.more()
        return self.kept.startswith(mark)

    def until(self, mark):
        while mark not in self.kept:
            if len(self.kept) > HEAD_BYTES_MAX:
                raise EOFError
            self.more()
        found, self.kept = self.kept.split(mark, 1)
        return found

    def exactly(self, count):
        if count > BODY_BYTES_MAX:
            raise EOFError
        while len(self.kept) < count:
            self.more()
        found, self.kept = self.kept[:count], self.kept[count:]
        return found


def body_of(stream, headers):
    if "chunked" in headers.get("transfer-encoding", "").lower():
        while size := int(stream.until(b"\r\n").split(b";")[0], 16):
            stream.exactly(size + 2)
        stream.until(b"\r\n")
    else:
        stream.exactly(int(headers.get("content-length", 0)))


def frame(opcode, payload):
    size = len(payload)
    if size < 126:
        return bytes([0x80 | opcode, size]) + payload
    if size <= 0xFFFF:
        return struct.pack("!BBH", 0x80 | opcode, 126, size) + payload
    return struct.pack("!BBQ", 0x80 | opcode, 127, size) + payload


def websocket(stream, target, headers):
    """Echoes messages; a Socket.IO client is greeted as it expects."""
    accept = base64.b64encode(hashlib.sha1(headers["sec-websocket-key"].encode() + WEBSOCKET_KEY).digest()).decode()
    head = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
    if protocols := headers.get("sec-websocket-protocol"):
        head += f"Sec-WebSocket-Protocol: {protocols.split(',')[0].strip()}\r\n"
    stream.connection.sendall((head + "\r\n").encode())
    if "EIO=" in target:
        hello = {"sid": "s1", "upgrades": [], "pingInterval": 25000, "pingTimeout": 20000, "maxPayload": 1000000}
        stream.connection.sendall(frame(TEXT, ("0" + json.dumps(hello)).encode()))
    parts, kind = b"", TEXT
    while True:
        first, second = stream.exactly(2)
        size = second & 0x7F
        if size > 125:
            size = struct.unpack("!H" if size == 126 else "!Q", stream.exactly(2 if size == 126 else 8))[0]
        mask = stream.exactly(4) if second & 0x80 else bytes(4)
        payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(stream.exactly(size)))
        opcode = first & 0x0F
        if opcode == CLOSE:
            stream.connection.sendall(frame(CLOSE, payload[:2]))
            return
        if opcode == PING:
            stream.connection.sendall(frame(PONG, payload))
        if opcode in (0, TEXT, BINARY):
            parts, kind = parts + payload, opcode or kind
            if first & 0x80:
                stream.connection.sendall(frame(kind, parts))
                parts = b""


def events(stream):
    """A few events in the shape that APIs of language models have, and the end of the connection."""
    parts = [{"choices": [{"index": 0, "delta": {"content": f"word{number} "}, "finish_reason": None}], **item(number)} for number in (1, 2, 3, 4)]
    lines = [f"id: {number}\nevent: message\ndata: {json.dumps(part)}\n\n" for number, part in enumerate(parts, 1)]
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n"
    stream.connection.sendall((head + "".join(lines) + "data: [DONE]\n\n").encode())


def library(root, host, target):
    """A remote module, when a copy is at hand."""
    path = target.split("?")[0].lstrip("/")
    if host.endswith("githubusercontent.com"):
        path = "/".join(path.split("/")[:2] + path.split("/")[3:])
    place = (root / host / path).resolve()
    return place.read_bytes() if place.is_relative_to(root.resolve()) and place.is_file() else None


def serve(stream, root):
    if stream.begins_with(calls.PREFACE[:4]):
        return calls.serve(stream)
    while True:
        start, *lines = stream.until(b"\r\n\r\n").decode("latin-1").lstrip("\r\n").split("\r\n")
        method, target, _ = start.split(" ", 2)
        target = re.sub(r"^https?://[^/]*", "", target)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if headers.get("upgrade", "").lower() == "websocket":
            return websocket(stream, target, headers)
        if headers.get("expect", "").lower() == "100-continue":
            stream.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body_of(stream, headers)
        if "text/event-stream" in headers.get("accept", ""):
            return events(stream)
        host = headers.get("host", "").split(":")[0]
        if (root / host).is_dir():
            content = library(root, host, target)
            status, extra, body = (200, {"Content-Type": "text/javascript"}, content) if content else (404, {}, b"no copy")
        else:
            status, extra, body = answer(method, target)
        if body and "gzip" in headers.get("accept-encoding", ""):
            body, extra["Content-Encoding"] = gzip.compress(body, 1, mtime=0), "gzip"
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in extra.items())
        if status != 204:
            head += f"Content-Length: {len(body)}\r\n"
        stream.connection.sendall((head + "\r\n").encode() + (b"" if method == "HEAD" else body))
        if headers.get("connection", "").lower() == "close":
            return


def converse(connection, authority, root):
    try:
        connection.settimeout(IDLE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        first = connection.recv(1, socket.MSG_PEEK)
        if first and first[0] == TLS_HANDSHAKE:
            connection = authority.front(dialled(connection)).wrap_socket(connection, server_side=True)
        serve(Stream(connection), root)
    except (EOFError, OSError, ValueError, KeyError):
        pass
    finally:
        connection.close()


def names():
    """Every A question is answered by 127.0.0.1, every other one by nothing."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    while True:
        question, client = server.recvfrom(4096)
        end = question.find(b"\0", 12) + 5
        is_address = question[end - 4 : end - 2] == b"\0\1"
        head = question[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_address else b"\0\0") + b"\0\0\0\0"
        record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if is_address else b""
        server.sendto(head + question[12:end] + record, client)


def main():
    folder, port, root = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    authority = Authority(folder)
    threading.Thread(target=names, daemon=True).start()
    server = socket.create_server(("", port), backlog=1024, family=socket.AF_INET6, dualstack_ipv6=True)
    print("ready", flush=True)
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            time.sleep(0.05)
            continue
        threading.Thread(target=converse, args=(connection, authority, root), daemon=True).start()


if __name__ == "__main__":
    main()
