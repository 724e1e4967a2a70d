//! The properties hold for the seeds of the fuzzer and for damaged copies of them.

use std::path::{Path, PathBuf};

/// Damaged copies of each seed, unless `PLIMSOLL_HOSTILE_COPIES` sets another number.
const COPIES: u64 = 96;

fn copies() -> u64 {
    std::env::var("PLIMSOLL_HOSTILE_COPIES").ok().and_then(|copies| copies.parse().ok()).unwrap_or(COPIES)
}

fn seeds_of(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus-seeds").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("a seed"))).collect()
}

/// Marsaglia's xorshift: the copies are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// Changes a byte, leaves some out, repeats some, or takes some of another seed.
fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = (at + random.below(16)).min(bytes.len());
    match random.below(5) {
        0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let repeated = bytes[at..end].to_vec();
            bytes.splice(at..at, repeated);
        }
        _ => {
            let from = random.below(other.len() + 1);
            let taken = other[from..(from + random.below(16)).min(other.len())].to_vec();
            bytes.splice(at..end, taken);
        }
    }
}

fn replay(name: &str) {
    let property = hostile::ALL.iter().find(|property| property.name == name).expect("a property");
    let seeds = seeds_of(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    println!("tried {}", seeds.len() as u64 * (copies() + 1));
    for (index, (path, seed)) in seeds.iter().enumerate() {
        println!("{}", path.display());
        (property.check)(seed);
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ index as u64);
        for _ in 0..copies() {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(6) {
                let other = &seeds[random.below(seeds.len())].1;
                damage(&mut bytes, other, &mut random);
            }
            (property.check)(&bytes);
        }
    }
}

macro_rules! replays {
    ($($name:ident)*) => {
        $(#[test] fn $name() { replay(stringify!($name)); })*

        #[test]
        fn every_property_is_replayed_and_fuzzed() {
            let replayed = [$(stringify!($name)),*];
            let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
            let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("the manifest of the targets");
            for property in hostile::ALL {
                let name = property.name;
                assert!(replayed.contains(&name), "{name} is not replayed");
                assert!(fuzz.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name} has no fuzz target");
                assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
            }
        }
    };
}

replays! {
    archive_file content_coding cookies draft_source duration event_stream fleet_frames grpc_messages html_page http_response import_file
    json_path options_json otlp proto_file run_file segment threshold url websocket_frames
}
