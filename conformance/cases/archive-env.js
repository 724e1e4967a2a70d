//! script: fixtures/archive.tar
//! args: --env WORD=given --iterations 1
// What is given now stands over what an archive carries.
