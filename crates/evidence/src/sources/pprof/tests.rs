//! The source against profiles built from `profile.proto`.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::sample::Index;
use prost::Message;

use super::message::{Function, Line, Location, Profile, SAMPLES_MAX, Sample, ValueType};
use super::*;
use crate::contract::promises;

/// Returns a CPU profile as Go makes it: counts and nanoseconds; `main` calls `work`, which has `inlined` in it.
fn profile(work_ns: i64) -> Profile {
    let strings = ["", "samples", "count", "cpu", "nanoseconds", "main", "work", "inlined"];
    let function = |id: u64, name: i64| Function { id, name };
    let line = |function_id: u64| Line { function_id };
    let sample = |location_id: &[u64], count: i64, ns: i64| Sample {
        location_id: location_id.to_vec(),
        value: vec![count, ns],
    };
    Profile {
        sample_type: vec![ValueType { kind: 1, unit: 2 }, ValueType { kind: 3, unit: 4 }],
        sample: vec![sample(&[2, 1], 7, work_ns), sample(&[1], 3, 30_000_000), sample(&[9], 0, 0)],
        location: vec![
            Location { id: 1, line: vec![line(1)] },
            Location { id: 2, line: vec![line(3), line(2)] },
        ],
        function: vec![function(1, 5), function(2, 6), function(3, 7)],
        string_table: strings.map(str::to_owned).to_vec(),
        duration_nanos: 1_000_000_000,
        default_sample_type: 0,
    }
}

fn gzipped(profile: &Profile) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(&profile.encode_to_vec()).expect("into memory");
    writer.finish().expect("into memory")
}

/// Serves a program that is busier at each request until its third profile; it ends with the test.
fn program() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let asked = Arc::<AtomicU32>::default();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = std::io::Read::read(&mut stream, &mut [0; 2048]);
            let number = asked.fetch_add(1, Ordering::Relaxed);
            let body = gzipped(&profile(if number == 2 { 900_000_000 } else { 70_000_000 }));
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            // The client may have disconnected.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    address
}

fn source(address: &str) -> Result<Box<dyn Source>, SettingsError> {
    let values = [("seconds", "1"), ("every", "1s")];
    crate::sources::open(&Settings {
        name: "shop".to_owned(),
        kind: "pprof".to_owned(),
        address: address.to_owned(),
        credential: Some("t0psecret".to_owned()),
        values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    })
}

#[test]
fn promises_are_kept_and_the_busiest_profile_is_told() {
    let mut source = source(&format!("http://{}", program())).expect("settings that are right");
    let evidence = promises::of_a_source(source.as_mut(), Some("t0psecret"));
    let [profile] = &evidence.records[..] else { panic!("one profile: {evidence:?}") };
    assert_eq!((profile.kind, profile.subject.as_str()), (RecordKind::Profile, "cpu"));
    // The probe came first, then two samples: the second of them was the busiest.
    assert_eq!(profile.fields["total"], Datum::from(930_000_000.0));
    assert_eq!(profile.fields["unit"], Datum::from("nanoseconds"));
    assert_eq!(profile.fields["profiles_taken"], Datum::from(2.0));
    let frames = "0 930000000 main\n1 900000000 work\n2 900000000 inlined\n";
    assert_eq!(profile.fields["frames"], Datum::from(frames));
}

#[test]
fn promises_are_kept_without_a_server() {
    promises::of_an_absent_server(source("http://127.0.0.1:9").expect("settings that are right").as_mut());
}

#[test]
fn what_is_no_profile_is_refused() {
    let check = |bytes: &[u8], expect: &str| {
        let why = Profile::read(bytes).expect_err("it is none");
        assert!(why.contains(expect), "{why}");
    };
    check(b"<html>not found</html>", "not a pprof profile");
    check(&gzipped(&profile(1))[..40], "corrupt profile");
    let zeros = vec![0; 5 << 20];
    check(&zeros, "exceeds");
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(&zeros).expect("into memory");
    check(&writer.finish().expect("into memory"), "exceeds");
}

#[test]
fn a_profile_that_points_nowhere_is_read_as_far_as_it_goes() {
    let mut broken = profile(70_000_000);
    broken.string_table.truncate(6);
    broken.location[1].line[0].function_id = 77;
    broken.sample[1].value.clear();
    let (flame, kind, unit) = broken.flame();
    assert_eq!((flame.total(), kind, unit), (70_000_000.0, "cpu", "nanoseconds"));
    assert_eq!(flame.lines()["frames"], Datum::from("0 70000000 main\n1 70000000 ?\n2 70000000 ?\n"));
    assert_eq!(Profile::default().flame().0.total(), 0.0);
}

#[test]
fn stacks_beyond_the_limit_are_counted() {
    let mut large = profile(7);
    large.sample = vec![large.sample[1].clone(); SAMPLES_MAX + 3];
    assert_eq!((large.left_out(), large.flame().0.total()), (3, SAMPLES_MAX as f64 * 30_000_000.0));
}

/// Checks that any input is refused or stays within the limits.
fn assert_bounded(bytes: &[u8]) {
    if let Ok(profile) = Profile::read(bytes) {
        profile.flame().0.assert_bounded();
    }
}

proptest! {
    #[test]
    fn bytes_are_no_profile_or_a_bounded_one(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        assert_bounded(&bytes);
    }

    #[test]
    fn a_damaged_profile_harms_nobody(
        is_gzipped: bool,
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..8),
        end in any::<Index>(),
    ) {
        let mut bytes = if is_gzipped { gzipped(&profile(5)) } else { profile(5).encode_to_vec() };
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len() + 1).max(bytes.len() / 2));
        assert_bounded(&bytes);
    }

    #[test]
    fn numbers_of_a_profile_may_mean_nothing(
        samples in prop::collection::vec(
            (prop::collection::vec(0..6_u64, 0..300), prop::collection::vec(any::<i64>(), 0..4)),
            0..20,
        ),
        lines in prop::collection::vec((0..6_u64, 0..6_u64), 0..20),
        functions in prop::collection::vec((0..6_u64, any::<i64>()), 0..6),
        names in prop::collection::vec(".{0,200}", 0..6),
        default_sample_type: i64,
    ) {
        let sample = |(location_id, value): (Vec<u64>, Vec<i64>)| Sample { location_id, value };
        let location = |(id, function_id): (u64, u64)| Location { id, line: vec![Line { function_id }; 2] };
        let made = Profile {
            sample_type: vec![ValueType { kind: default_sample_type, unit: 1 }],
            sample: samples.into_iter().map(sample).collect(),
            location: lines.into_iter().map(location).collect(),
            function: functions.into_iter().map(|(id, name)| Function { id, name: name % 8 }).collect(),
            string_table: names,
            duration_nanos: i64::MIN,
            default_sample_type,
        };
        assert_bounded(&made.encode_to_vec());
    }
}

#[test]
fn settings_have_bounds() {
    let check = |name: &str, value: &str| {
        let settings = Settings {
            name: "p".to_owned(),
            kind: "pprof".to_owned(),
            address: "http://h".to_owned(),
            values: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..Settings::default()
        };
        assert!(crate::sources::open(&settings).is_err(), "{name}={value}");
    };
    check("seconds", "0");
    check("seconds", "7");
    check("seconds", "some");
    check("every", "1s");
}
