//! script: fixtures/ts/map-missing.js
//! ignore: warned
// A map that is not there changes nothing.
