//! Parsers of small kernel files. Their formats vary between kernels: a missing or malformed field gives `None`.

use std::fs;
use std::path::Path;

/// The text of a file; `None` where there is none.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The whole numbers of a text, as far as it has nothing else.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split_whitespace().map_while(|word| word.parse().ok())
}

/// The number behind a key: `key 12` on a line, or `… key 12 …` after a line's title.
pub(crate) fn keyed(text: &str, title: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(title))?;
    let mut words = line.split_whitespace();
    words.by_ref().find(|word| *word == key)?;
    words.next()?.parse().ok()
}

/// The number in the column `key` of a table of two lines, names above numbers, both beginning with `title`
/// (proc(5), `/proc/net/snmp`).
pub(crate) fn column(text: &str, title: &str, key: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(title));
    let place = lines.next()?.split_whitespace().position(|word| word == key)?;
    lines.next()?.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_kernel_are_read() {
        let snmp = "Ip: A B\nIp: 1 2\nTcp: MaxConn OutSegs RetransSegs\nTcp: -1 50 7\n";
        assert_eq!(column(snmp, "Tcp:", "RetransSegs"), Some(7));
        assert_eq!(column(snmp, "Tcp:", "MaxConn"), None);
        assert_eq!(column(snmp, "Tcp:", "Gone"), None);
        assert_eq!(column("Tcp: A\n", "Tcp:", "A"), None);
        let sockets = "sockets: used 28\nTCP: inuse 5 orphan 0 tw 12 alloc 5 mem 138\n";
        assert_eq!(keyed(sockets, "TCP:", "tw"), Some(12));
        assert_eq!(keyed(sockets, "TCP6:", "tw"), None);
        assert_eq!(keyed("nr_periods 4\n", "", "nr_periods"), Some(4));
        assert_eq!(numbers("12 34 x 5").collect::<Vec<_>>(), [12, 34]);
    }
}
