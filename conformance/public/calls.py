"""Answers gRPC calls, for `catchall.py`: HTTP/2 as far as a gRPC client needs it, without reading header blocks.

Every message of a call is answered by one message with no fields, which every type can be read from, and the end of the
call by the status OK. Which method is called does not matter, so HPACK need not be understood.
"""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
FRAME_BYTES_MAX = 1 << 20
MESSAGE_HEAD_BYTES = 5
EMPTY_MESSAGE = bytes(MESSAGE_HEAD_BYTES)


def literal(name, value):
    """A header field that is not indexed (RFC 7541, 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


# The first is `:status: 200` of the static table.
HEAD = b"\x88" + literal("content-type", "application/grpc")
TRAILERS = literal("grpc-status", "0")


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def window(stream, count):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack("!I", count))


def messages_in(kept):
    """The number of whole messages at the front, and what is left."""
    count = 0
    while len(kept) >= MESSAGE_HEAD_BYTES:
        size = MESSAGE_HEAD_BYTES + struct.unpack("!I", kept[1:MESSAGE_HEAD_BYTES])[0]
        if len(kept) < size:
            break
        kept, count = kept[size:], count + 1
    return count, kept


def answer(calls, kind, flags, stream, payload):
    """What is sent for one frame."""
    if kind == SETTINGS and not flags & ACK:
        return frame(SETTINGS, ACK, 0)
    if kind == PING and not flags & ACK:
        return frame(PING, ACK, 0, payload)
    if kind == RST_STREAM:
        calls.pop(stream, None)
        return b""
    if kind not in (DATA, HEADERS):
        return b""
    out = b""
    if stream not in calls:
        calls[stream] = b""
        out += frame(HEADERS, END_HEADERS, stream, HEAD)
    if kind == DATA:
        body = payload[1 : len(payload) - payload[0]] if flags & PADDED else payload
        count, calls[stream] = messages_in(calls[stream] + body)
        out += frame(DATA, 0, stream, EMPTY_MESSAGE) * count
        if payload:
            out += window(0, len(payload)) + window(stream, len(payload))
    if flags & END_STREAM:
        calls.pop(stream)
        out += frame(HEADERS, END_HEADERS | END_STREAM, stream, TRAILERS)
    return out


def serve(stream):
    """Answers calls until the connection ends; `stream` is at the client's preface."""
    stream.exactly(len(PREFACE))
    stream.connection.sendall(frame(SETTINGS, 0, 0))
    calls = {}
    while True:
        head = stream.exactly(9)
        size = struct.unpack("!I", b"\0" + head[:3])[0]
        if size > FRAME_BYTES_MAX:
            return
        number = struct.unpack("!I", head[5:])[0] & 0x7FFFFFFF
        payload = stream.exactly(size)
        if head[3] == GOAWAY:
            return
        if out := answer(calls, head[3], head[4], number, payload):
            stream.connection.sendall(out)
