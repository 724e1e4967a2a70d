//! NGINX as the balancer, and the proxies behind it.

use std::fmt::Write;

use lab::{Front, Place, Replica, Site};

/// The proxies, each a process of its own. Their order is their number.
pub(crate) static PROXY_1: Replica = Replica { name: "proxy-1", variants: &["one", "two", "three"] };
pub(crate) static PROXY_2: Replica = Replica { name: "proxy-2", variants: &["two", "three"] };
pub(crate) static PROXY_3: Replica = Replica { name: "proxy-3", variants: &["three"] };

/// The names of all of them.
pub(crate) const PROXIES: [&str; 3] = ["proxy-1", "proxy-2", "proxy-3"];

/// The balancer that clients connect to.
pub(crate) static BALANCER: Front = Front { site };

/// Connections to the proxies that may wait for their next request.
const IDLE_MAX: usize = 1024;

fn site(place: &Place) -> Site {
    let ports = PROXIES.iter().filter_map(|name| place.around.ports.get(name)?.first());
    // In turn. One that refuses is passed over, and asked again for the next request.
    let servers = ports.fold(String::new(), |mut text, port| {
        let _ = writeln!(text, "        server 127.0.0.1:{port} max_fails=0;");
        text
    });
    Site {
        http: format!("    upstream ingress {{\n{servers}        keepalive {IDLE_MAX};\n    }}\n"),
        server: "        location / {\n            proxy_pass http://ingress;\n            proxy_http_version 1.1;\n            \
                 proxy_set_header Connection \"\";\n            \
                 proxy_next_upstream error timeout http_502 non_idempotent;\n        }\n"
            .to_owned(),
    }
}
