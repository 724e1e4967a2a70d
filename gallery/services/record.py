"""Writes each payload of traces that an SDK sends to a file: services/record.py FOLDER HTTP_PORT [GRPC_PORT]

Bodies over HTTP stay as they are sent, in gzip too. Of gRPC, the message is written without its frame.
"""
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

folder, http_port, *grpc_port = sys.argv[1:]
count, lock = 0, threading.Lock()


def write(body, ending):
    global count
    with lock:
        count += 1
        Path(folder, f"payload-{count}.{ending}").write_bytes(body)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.body()
        ending = "json" if "json" in self.headers["content-type"] else "pb"
        write(body, ending + (".gz" if self.headers.get("content-encoding") == "gzip" else ""))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers["content-length"]))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def log_message(self, *_):
        pass


if grpc_port:
    import grpc

    def export(message, _):
        write(message, "grpc.pb")
        return b""

    server = grpc.server(ThreadPoolExecutor(2))
    handlers = {"Export": grpc.unary_unary_rpc_method_handler(export)}
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
    server.add_insecure_port(f"127.0.0.1:{grpc_port[0]}")
    server.start()
ThreadingHTTPServer(("127.0.0.1", int(http_port)), Receiver).serve_forever()
