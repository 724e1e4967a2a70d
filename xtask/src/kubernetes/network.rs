//! The pods' network: a bridge of this machine, and one network namespace per pod. It needs root.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Context, ensure};

/// The address of the bridge (a locally administered one).
const MAC: &str = "02:50:4c:4d:00:01";

/// A bridge with the addresses 10.213.0.0/16. Dropping it removes it with all its namespaces.
pub(super) struct Network {
    bridge: String,
    next: AtomicU16,
}

/// A pod's network namespace.
pub(super) struct Namespace {
    pub(super) name: String,
    pub(super) address: Ipv4Addr,
}

impl Network {
    /// The address of this machine on the bridge.
    pub(super) const HOST: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 1);

    pub(super) fn create() -> anyhow::Result<Arc<Network>> {
        let bridge = format!("plk{}", std::process::id());
        // With an address of its own: a bridge has that of one of its ports, and would change it whenever a pod ends.
        ip(&["link", "add", &bridge, "address", MAC, "type", "bridge"])
            .context("create a bridge; this needs root")?;
        let network = Network { bridge, next: AtomicU16::new(1) };
        ip(&["addr", "add", &format!("{}/16", Network::HOST), "dev", &network.bridge])?;
        ip(&["link", "set", &network.bridge, "up"])?;
        Ok(Arc::new(network))
    }

    /// A namespace of its own for a pod.
    pub(super) fn namespace(&self) -> anyhow::Result<Namespace> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let [high, low] = number.to_be_bytes();
        let namespace = Namespace {
            name: format!("{}-{number}", self.bridge),
            address: Ipv4Addr::new(10, 213, 1 + high, low),
        };
        let (name, outside) = (&namespace.name, format!("plv{}n{number}", std::process::id() % 10_000));
        ip(&["netns", "add", name])?;
        ip(&["link", "add", &outside, "type", "veth", "peer", "name", "eth0", "netns", name])?;
        ip(&["link", "set", &outside, "master", &self.bridge, "up"])?;
        ip(&["-n", name, "addr", "add", &format!("{}/16", namespace.address), "dev", "eth0"])?;
        ip(&["-n", name, "link", "set", "eth0", "up"])?;
        ip(&["-n", name, "link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Passes connections at the bridge on to an address of loopback, as the way to a target outside of the cluster.
    pub(super) fn relay(to: SocketAddr) -> anyhow::Result<SocketAddr> {
        let listener = TcpListener::bind((Network::HOST, 0)).context("listen at the bridge")?;
        let address = listener.local_addr().context("listen at the bridge")?;
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                // A target that is gone closes the connection.
                let _ = TcpStream::connect(to).and_then(|target| join(&stream, &target));
            }
        });
        Ok(address)
    }
}

/// Copies both ways, each in a thread.
fn join(one: &TcpStream, other: &TcpStream) -> io::Result<()> {
    for (from, to) in [(one, other), (other, one)] {
        let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
        from.set_nodelay(true)?;
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
    }
    Ok(())
}

impl Namespace {
    pub(super) fn remove(&self) {
        // One that is gone already is no trouble.
        let _ = ip(&["netns", "del", &self.name]);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 1..self.next.load(Ordering::Relaxed) {
            let _ = ip(&["netns", "del", &format!("{}-{number}", self.bridge)]);
        }
        let _ = ip(&["link", "del", &self.bridge]);
    }
}

fn ip(words: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("ip").args(words).output().context("run ip")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "ip {}: {}", words.join(" "), complaint.trim());
    Ok(())
}
