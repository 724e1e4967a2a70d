"""An unrelated program: sends slow traces of its own to the same receiver over HTTP, in JSON, for at most two minutes."""
import json
import os
import random
import time
import urllib.request

URL = os.environ["OTLP"] + "/v1/traces"


def span(name, trace, parent, kind, start_ns, end_ns):
    found = {"traceId": trace, "spanId": f"{random.getrandbits(64):016x}", "name": name, "kind": kind,
             "startTimeUnixNano": str(start_ns), "endTimeUnixNano": str(end_ns)}
    return found | ({"parentSpanId": parent} if parent else {})


end = time.monotonic() + 120
while time.monotonic() < end:
    now_ns, spans = time.time_ns(), []
    for _ in range(20):
        trace = f"{random.getrandbits(128):032x}"
        root = span("nightly import", trace, None, 1, now_ns - 900_000_000, now_ns)
        spans += [root, span("acquire", trace, root["spanId"], 1, now_ns - 890_000_000, now_ns - 10_000_000)]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "importer"}}]}
    body = json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}).encode()
    try:
        urllib.request.urlopen(urllib.request.Request(URL, body, {"content-type": "application/json"}), timeout=5).close()
    except OSError:
        pass
    time.sleep(1)
