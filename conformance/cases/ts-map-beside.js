//! script: fixtures/ts/map-beside.js
// A map beside the script does, too.
