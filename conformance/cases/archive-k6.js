//! script: fixtures/archive.tar
// An archive that k6 2.2.0 has made: its options, its variables, its files.
