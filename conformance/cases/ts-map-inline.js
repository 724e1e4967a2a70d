//! script: fixtures/ts/map-inline.js
// A map in the script leads to what it was made of.
