//! A profile in the format of pprof: the fields of `profile.proto` (github.com/google/pprof) that are needed.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use prost::Message;

use crate::flame::Flame;

/// Maximum size of a decompressed profile, bytes: its tree is about forty times as large as its shortest encoding.
const PLAIN_BYTES_MAX: u64 = 4 << 20;
/// Maximum number of stacks added up: five seconds of a hundred cores.
pub(super) const SAMPLES_MAX: usize = 50_000;
/// Magic number of gzip (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Name of functions without one.
const NAMELESS: &str = "?";

/// A profile.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Profile {
    #[prost(message, repeated, tag = "1")]
    pub(super) sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub(super) location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    pub(super) function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    pub(super) string_table: Vec<String>,
    #[prost(int64, tag = "10")]
    pub(super) duration_nanos: i64,
    #[prost(int64, tag = "14")]
    pub(super) default_sample_type: i64,
}

/// Kind of the values.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(int64, tag = "1")]
    pub(super) kind: i64,
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

/// A stack, the innermost call first, with a value of each type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    pub(super) location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) value: Vec<i64>,
}

/// A location in the program, the innermost inlined call first.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(message, repeated, tag = "4")]
    pub(super) line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub(super) function_id: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
}

impl Profile {
    /// Parses a profile, plain or compressed with gzip.
    ///
    /// # Errors
    /// The bytes are no profile, or too large.
    pub(super) fn read(bytes: &[u8]) -> Result<Profile, String> {
        let mut plain = Vec::new();
        let read = match bytes.starts_with(&GZIP) {
            true => MultiGzDecoder::new(bytes).take(PLAIN_BYTES_MAX + 1).read_to_end(&mut plain),
            false => bytes.take(PLAIN_BYTES_MAX + 1).read_to_end(&mut plain),
        };
        read.map_err(|error| format!("corrupt profile: {error}"))?;
        if plain.len() as u64 > PLAIN_BYTES_MAX {
            return Err(format!("the profile exceeds {PLAIN_BYTES_MAX} bytes"));
        }
        Profile::decode(&*plain).map_err(|error| format!("not a pprof profile: {error}"))
    }

    /// Returns the stacks, and name and unit of their values: of the default type, else of the last one, as pprof does.
    pub(super) fn flame(&self) -> (Flame, &str, &str) {
        let default = |of: &ValueType| self.default_sample_type > 0 && of.kind == self.default_sample_type;
        let place = self.sample_type.iter().position(default);
        let place = place.or(self.sample_type.len().checked_sub(1));
        let functions: HashMap<u64, &str> =
            self.function.iter().map(|function| (function.id, self.text(function.name))).collect();
        let locations: HashMap<u64, &Location> =
            self.location.iter().map(|location| (location.id, location)).collect();
        let mut flame = Flame::new();
        for sample in self.sample.iter().take(SAMPLES_MAX) {
            let value = place.and_then(|place| sample.value.get(place)).copied().unwrap_or(0);
            let lines = sample.location_id.iter().rev().flat_map(|id| {
                let lines = locations.get(id).map_or(&[][..], |location| &location.line[..]);
                lines.iter().rev().map(|line| functions.get(&line.function_id).copied().unwrap_or(NAMELESS))
            });
            flame.add(lines, value as f64);
        }
        let of = place.and_then(|place| self.sample_type.get(place));
        let (kind, unit) = of.map_or(("", ""), |of| (self.text(of.kind), self.text(of.unit)));
        (flame, kind, unit)
    }

    /// Returns the number of stacks beyond the limit.
    pub(super) fn left_out(&self) -> usize {
        self.sample.len().saturating_sub(SAMPLES_MAX)
    }

    fn text(&self, place: i64) -> &str {
        let text = usize::try_from(place).ok().and_then(|place| self.string_table.get(place));
        text.map_or(NAMELESS, String::as_str)
    }
}
