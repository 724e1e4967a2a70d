//! TCP counters of the process's network namespace. Other processes in the same namespace are included.

use crate::files::{column, keyed, numbers, text};

/// Counters that only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segments {
    pub(crate) sent: u64,
    pub(crate) repeated: u64,
    pub(crate) syn_repeated: u64,
    pub(crate) listen_drops: u64,
}

pub(crate) fn segments() -> Option<Segments> {
    parse_segments(&text("/proc/self/net/snmp")?, &text("/proc/self/net/netstat")?)
}

/// In RFC 4022's words, tcpOutSegs does not hold what is sent again, tcpRetransSegs does.
fn parse_segments(snmp: &str, netstat: &str) -> Option<Segments> {
    Some(Segments {
        sent: column(snmp, "Tcp:", "OutSegs")?,
        repeated: column(snmp, "Tcp:", "RetransSegs")?,
        syn_repeated: column(netstat, "TcpExt:", "TCPSynRetrans")?,
        listen_drops: column(netstat, "TcpExt:", "ListenDrops")?,
    })
}

/// TCP sockets, those that wait out their end among them: a summary that the kernel keeps, where listing them one by one
/// would take as long as there are sockets.
pub(crate) fn sockets() -> Option<u64> {
    let four = text("/proc/self/net/sockstat")?;
    // Without IPv6 there is no such file, and no such socket.
    let six = text("/proc/self/net/sockstat6").unwrap_or_default();
    Some(in_use(&four)?.saturating_add(keyed(&six, "TCP6:", "inuse").unwrap_or(0)))
}

fn in_use(sockstat: &str) -> Option<u64> {
    Some(keyed(sockstat, "TCP:", "inuse")?.saturating_add(keyed(sockstat, "TCP:", "tw")?))
}

/// How many local ports a connection may go out from.
pub(crate) fn ports() -> Option<u64> {
    parse_ports(&text("/proc/sys/net/ipv4/ip_local_port_range")?)
}

fn parse_ports(range: &str) -> Option<u64> {
    let mut numbers = numbers(range);
    let (first, last) = (numbers.next()?, numbers.next()?);
    last.checked_sub(first).map(|distance| distance + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_ranges_are_read() {
        let snmp = "Tcp: OutSegs RetransSegs\nTcp: 100 3\n";
        let netstat = "TcpExt: ListenDrops TCPSynRetrans\nTcpExt: 1 2\nIpExt: A\nIpExt: 9\n";
        let expect = Segments { sent: 100, repeated: 3, syn_repeated: 2, listen_drops: 1 };
        assert_eq!(parse_segments(snmp, netstat), Some(expect));
        assert_eq!(parse_segments(snmp, "TcpExt: A\nTcpExt: 1\n"), None);
        assert_eq!(in_use("TCP: inuse 5 orphan 0 tw 12 alloc 5 mem 138\n"), Some(17));
        assert_eq!(parse_ports("32768\t60999\n"), Some(28232));
        assert_eq!(parse_ports("5 4\n"), None);
    }
}
