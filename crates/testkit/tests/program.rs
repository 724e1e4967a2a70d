//! The program, through its front door.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

struct Program {
    child: Child,
    out: BufReader<ChildStdout>,
}

fn start(arguments: &str) -> Program {
    let mut child = Command::new(env!("CARGO_BIN_EXE_testkit"))
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start testkit");
    let out = BufReader::new(child.stdout.take().expect("its stdout"));
    Program { child, out }
}

impl Program {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Ends its stdin; returns its last words and its exit code.
    fn end(mut self) -> (String, Option<i32>) {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("its last words");
        (rest, self.child.wait().expect("its end").code())
    }
}

fn get(url: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).expect("connect");
    write!(stream, "GET {path} HTTP/1.1\r\nconnection: close\r\n\r\n").expect("write");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("read");
    text
}

#[test]
fn every_verb_serves_and_tells_what_it_saw() {
    for (arguments, path, expect) in [
        ("serve", "/status/201", "HTTP/1.1 201"),
        ("serve --catch-all", "/any", "HTTP/1.1 200"),
        ("hold", "/hold?ms=1", "x-hold-ns: "),
        ("stall", "/", "served"),
        ("shop", "/product/1", "rope"),
    ] {
        let mut program = start(arguments);
        let answer = get(&program.line(), path);
        assert!(answer.contains(expect), "{arguments}: {answer}");
        let (last_words, code) = program.end();
        assert!(last_words.contains("\"total\":1"), "{arguments}: {last_words}");
        assert_eq!(code, Some(0), "{arguments}");
    }
}

#[test]
fn tls_beside_plain_names_its_files() {
    let mut program = start("serve --tls-port 0");
    assert!(program.line().starts_with("http://127.0.0.1:"));
    assert!(program.line().starts_with("https://localhost:"));
    let ca = program.line();
    assert!(std::fs::exists(ca.trim_start_matches("ca=")).expect("look"), "{ca}");
    assert_eq!(program.end().1, Some(0));
}

#[test]
fn the_shop_tells_its_capacity() {
    let mut program = start("shop --slots 3 --hold-ms 10");
    program.line();
    assert_eq!(program.line(), "capacity_per_second=300");
    program.end();
}

#[test]
fn wrong_command_lines_exit_with_2() {
    assert_eq!(start("sell").end().1, Some(2));
}

#[test]
fn a_taken_port_is_an_error_not_a_panic() {
    let mut first = start("serve");
    let url = first.line();
    let port = url.rsplit(':').next().expect("a port");
    assert_eq!(start(&format!("serve --port {port}")).end(), (String::new(), Some(1)));
    first.end();
}
