//! NGINX in front of the backend.

use lab::{Front, Place, Site};

/// The proxy that clients connect to.
pub(crate) static FRONT: Front = Front { site };

/// Requests that one connection to the backend carries before it is closed. With fewer than all, the backend takes new
/// connections all the time, and how fast it does that can matter.
pub(crate) const REQUESTS_PER_CONNECTION: usize = 25;

/// Connections that may wait for their next request.
const IDLE_MAX: usize = 4096;

fn site(place: &Place) -> Site {
    let backend = place.around.service_port;
    Site {
        http: format!(
            "    upstream backend {{\n        server 127.0.0.1:{backend} max_fails=0;\n        keepalive {IDLE_MAX};\n        \
             keepalive_requests {REQUESTS_PER_CONNECTION};\n    }}\n"
        ),
        // Unbuffered, so that a slow backend is seen as slow.
        server: "        location / {\n            proxy_pass http://backend;\n            proxy_http_version 1.1;\n            \
                 proxy_set_header Connection \"\";\n            proxy_buffering off;\n        }\n"
            .to_owned(),
    }
}
