//! Connections of this machine and whether they wait for an answer, as the kernel's socket monitoring reports them
//! (`sock_diag(7)`, `struct tcp_info` in `include/uapi/linux/tcp.h`).

use std::net::SocketAddr;

/// Maximum number of connections of one reading; of a machine with more, none are read.
const CONNECTIONS_MAX: usize = 20_000;

/// The longest time after which the peer's kernel confirms what it received (Linux, `TCP_DELACK_MAX`), milliseconds.
const CONFIRMED_AFTER_MS_MAX: u32 = 200;

/// An established TCP connection, from one of its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Connection {
    /// Of its socket, by which its process is found.
    pub(crate) inode: u64,
    /// Its own port.
    pub(crate) port: u16,
    pub(crate) remote: SocketAddr,
    /// Whether something was sent after what was received last.
    pub(crate) is_unanswered: bool,
}

/// Returns all established connections of this network namespace; `None` if the kernel does not report them, or there are too many.
pub(crate) fn connections() -> Option<Vec<Connection>> {
    netlink::established(CONNECTIONS_MAX)
}

/// Fields of `struct tcp_info` by their offset, bytes. The kernel only appends to it.
const UNACKED: usize = 24;
const LAST_DATA_SENT_MS: usize = 44;
const LAST_DATA_RECEIVED_MS: usize = 52;
const LAST_ACK_RECEIVED_MS: usize = 56;
const DATA_SEGMENTS_RECEIVED: usize = 152;
const DATA_SEGMENTS_SENT: usize = 156;

/// Returns true if a peer owes an answer: data was sent, and none came since. The kernel keeps these times in ticks of some milliseconds.
/// If both were in one tick, what was sent is the later one where its confirmation is still due, or came alone.
fn is_unanswered(info: &[u8]) -> Option<bool> {
    let field = |at: usize| Some(u32::from_ne_bytes(info.get(at..at + 4)?.try_into().ok()?));
    let (sent, received) = (field(DATA_SEGMENTS_SENT)?, field(DATA_SEGMENTS_RECEIVED)?);
    if sent == 0 || received == 0 {
        return Some(sent > 0);
    }
    let (sent_ms, received_ms) = (field(LAST_DATA_SENT_MS)?, field(LAST_DATA_RECEIVED_MS)?);
    let confirmed_after_ms = sent_ms.saturating_sub(field(LAST_ACK_RECEIVED_MS)?);
    let is_confirmed_alone = (1..=CONFIRMED_AFTER_MS_MAX).contains(&confirmed_after_ms);
    Some(match sent_ms.cmp(&received_ms) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => field(UNACKED)? > 0 || is_confirmed_alone,
        std::cmp::Ordering::Greater => false,
    })
}

#[cfg(target_os = "linux")]
mod netlink {
    use std::net::SocketAddr;

    use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
    use netlink_packet_sock_diag::SockDiagMessage;
    use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
    use netlink_packet_sock_diag::inet::nlas::Nla;
    use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
    use netlink_sys::protocols::NETLINK_SOCK_DIAG;
    use netlink_sys::{Socket, SocketAddr as KernelAddress};

    use super::{Connection, is_unanswered};

    /// Bytes of one answer of the kernel, which are at most 32 KiB (Linux, `netlink_dump`).
    const ANSWER_BYTES: usize = 64 * 1024;

    pub(super) fn established(count_max: usize) -> Option<Vec<Connection>> {
        let mut connections = Vec::new();
        for (family, any) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
            let mut socket = Socket::new(NETLINK_SOCK_DIAG).ok()?;
            socket.bind_auto().ok()?;
            socket.connect(&KernelAddress::new(0, 0)).ok()?;
            socket.send(&request(family, any), 0).ok()?;
            read(&socket, count_max, &mut connections)?;
        }
        Some(connections)
    }

    fn request(family: u8, any: SocketId) -> Vec<u8> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        let states = StateFlags::ESTABLISHED;
        let request = InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::INFO,
            states,
            socket_id: any,
        };
        let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        bytes
    }

    /// Reads answers up to the last one.
    fn read(socket: &Socket, count_max: usize, connections: &mut Vec<Connection>) -> Option<()> {
        let mut bytes = vec![0; ANSWER_BYTES];
        loop {
            let length = socket.recv(&mut &mut bytes[..], 0).ok()?;
            let mut rest = bytes.get(..length)?;
            while !rest.is_empty() {
                let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).ok()?;
                match message.payload {
                    NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                        connections.extend(connection(&response));
                    }
                    NetlinkPayload::Done(_) => return Some(()),
                    _ => return None,
                }
                let message_length = usize::try_from(message.header.length).ok()?.next_multiple_of(4);
                rest = rest.get(message_length.max(4)..).unwrap_or_default();
            }
            if connections.len() > count_max {
                return None;
            }
        }
    }

    fn connection(response: &InetResponse) -> Option<Connection> {
        let header = &response.header;
        let info = response.nlas.iter().find_map(|nla| match nla {
            Nla::TcpInfo(info) => Some(info),
            _ => None,
        })?;
        let id = &header.socket_id;
        Some(Connection {
            inode: u64::from(header.inode),
            port: id.source_port,
            remote: SocketAddr::new(id.destination_address, id.destination_port),
            is_unanswered: is_unanswered(info)?,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod netlink {
    /// Other systems have no such interface.
    pub(super) fn established(_count_max: usize) -> Option<Vec<super::Connection>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::*;

    /// A connection as its client and its server see it.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("connected");
        (client, listener.accept().expect("a connection").0)
    }

    fn waits(stream: &TcpStream) -> bool {
        let port = stream.local_addr().expect("an address").port();
        let remote = stream.peer_addr().expect("a peer");
        let all = connections().expect("the kernel reports them");
        let own = all.iter().find(|it| it.port == port && it.remote == remote);
        own.expect("the connection is there").is_unanswered
    }

    #[test]
    fn who_sent_last_waits_for_the_other() {
        let (mut client, mut server) = pair();
        let mut bytes = [0; 8];
        assert!(!waits(&client) && !waits(&server), "nothing was sent");
        client.write_all(b"question").expect("it is sent");
        server.read_exact(&mut bytes).expect("it arrives");
        assert!(waits(&client) && !waits(&server));
        // Longer than a tick of the kernel, which it keeps apart.
        let tick = || std::thread::sleep(Duration::from_millis(30));
        tick();
        server.write_all(b"answered").expect("it is sent");
        client.read_exact(&mut bytes).expect("it arrives");
        assert!(!waits(&client));
        tick();
        client.write_all(b"question").expect("it is sent");
        server.read_exact(&mut bytes).expect("it arrives");
        assert!(waits(&client) && !waits(&server));
    }

    #[test]
    fn what_the_kernel_says_is_read() {
        let info = |fields: &[(usize, u32)]| {
            let mut info = vec![0; 232];
            for (at, value) in fields {
                info[*at..at + 4].copy_from_slice(&value.to_ne_bytes());
            }
            is_unanswered(&info)
        };
        let both = [(DATA_SEGMENTS_SENT, 3), (DATA_SEGMENTS_RECEIVED, 2)];
        let with = |fields: &[(usize, u32)]| info(&[&both, fields].concat());
        let (sent, received, confirmed) = (LAST_DATA_SENT_MS, LAST_DATA_RECEIVED_MS, LAST_ACK_RECEIVED_MS);
        assert_eq!(info(&[]), Some(false));
        assert_eq!(info(&[(DATA_SEGMENTS_SENT, 1)]), Some(true));
        assert_eq!(with(&[(sent, 8), (received, 300)]), Some(true));
        assert_eq!(with(&[(sent, 300), (received, 8), (confirmed, 8)]), Some(false));
        let in_one_tick = [(sent, 300), (received, 300), (confirmed, 300)];
        assert_eq!(with(&in_one_tick), Some(false), "answered at once, or not known");
        assert_eq!(with(&[in_one_tick.as_slice(), &[(UNACKED, 1)]].concat()), Some(true));
        assert_eq!(with(&[(sent, 300), (received, 300), (confirmed, 260)]), Some(true));
        // The peer's kernel asks from time to time whether an unused connection still exists.
        assert_eq!(with(&[(sent, 60_300), (received, 60_300), (confirmed, 260)]), Some(false));
        assert_eq!(is_unanswered(&[0; 60]), None, "an older kernel");
    }
}
