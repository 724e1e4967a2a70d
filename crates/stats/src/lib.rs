//! Statistics of dependent measurements: what a load test's per-second figures allow one to say, and no more.
//!
//! Pure functions of numbers. Each names its source, and each is checked against an independent implementation. The room
//! knows nothing of runs, metrics or reports.
