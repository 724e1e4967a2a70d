//! Signals of the generator itself: what it and its machine were doing.

use std::collections::BTreeMap;

use model::{GeneratorState, Instant, Reading, Vital};
use rusqlite::params;

use crate::ReadError;
use crate::format::points;
use crate::reader::{Reader, RowError};
use crate::store::Store;

/// The `source` of what is read about the generator.
pub(crate) const GENERATOR: &str = "generator";

/// States are read once per window, nanoseconds.
const STEP_NS: i64 = 1_000_000_000;

/// The label for the worker thread of a signal.
const WORKER: &str = "worker";

/// The label for the run of a signal, in a merged run.
const INSTANCE: &str = "instance";

/// The quantity of one signal, in the order of rows.
type SignalKey = (Vital, Option<u16>);

impl Store {
    /// Adds what was read about a generator; `instance` is the run it is of, where there are several.
    pub(crate) fn put_states(
        &mut self,
        states: &[GeneratorState],
        instance: Option<&str>,
    ) -> rusqlite::Result<()> {
        let mut signals: BTreeMap<SignalKey, Vec<(Instant, f64)>> = BTreeMap::new();
        for state in states {
            for reading in &state.readings {
                let points = signals.entry((reading.vital, reading.worker)).or_default();
                points.push((state.at, reading.value));
            }
        }
        for ((vital, worker), points) in signals {
            let labels: BTreeMap<&str, String> = [
                worker.map(|worker| (WORKER, worker.to_string())),
                instance.map(|instance| (INSTANCE, instance.to_owned())),
            ]
            .into_iter()
            .flatten()
            .collect();
            let labels = serde_json::Value::from_iter(labels);
            // A minute's points are far below the limit of a blob.
            let blob = self.packer.pack(&points::encode(&points)).unwrap_or_default();
            self.execute(
                "INSERT INTO signal (source, name, labels, unit, query, step_ns, points) VALUES (?, ?, ?, ?, '', ?, ?)",
                params![GENERATOR, vital.as_str(), labels.to_string(), vital.unit(), STEP_NS, blob],
            )?;
        }
        Ok(())
    }
}

impl Reader {
    /// Readings of the generator, in order of time; of merged runs, each generator's states are states of their own.
    /// Vitals that this build does not know are left out.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn generator_states(&self) -> Result<Vec<GeneratorState>, ReadError> {
        let states = self.generator_states_by_instance()?.into_values();
        let mut states: Vec<GeneratorState> = states.flatten().collect();
        states.sort_by_key(|state| state.at);
        Ok(states)
    }

    pub(crate) fn generator_states_by_instance(
        &self,
    ) -> Result<BTreeMap<String, Vec<GeneratorState>>, ReadError> {
        let mut all: BTreeMap<String, BTreeMap<Instant, Vec<Reading>>> = BTreeMap::new();
        let sql = "SELECT name, labels, points FROM signal WHERE source = ? ORDER BY id";
        self.rows(sql, [GENERATOR], |row| {
            let labels: String = row.get(1)?;
            let mut labels: BTreeMap<String, String> =
                serde_json::from_str(&labels).map_err(|_| "a signal's labels are no texts")?;
            let Some(vital) = Vital::named(&row.get::<_, String>(0)?) else { return Ok(()) };
            let worker = labels.get(WORKER).map(|worker| worker.parse::<u16>());
            let worker = worker.transpose().map_err(|_| "a worker has no number")?;
            let states = all.entry(labels.remove(INSTANCE).unwrap_or_default()).or_default();
            for (at, value) in points::decode(&self.unpack(row, 2)?).map_err(RowError::Flaw)? {
                states.entry(at).or_default().push(Reading { vital, worker, value });
            }
            Ok(())
        })?;
        let states = |(instance, states): (String, BTreeMap<Instant, Vec<Reading>>)| {
            let state = |(at, readings)| GeneratorState { at, readings };
            (instance, states.into_iter().map(state).collect())
        };
        Ok(all.into_iter().map(states).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Header;

    fn state(second: u64, readings: &[(Vital, Option<u16>, f64)]) -> GeneratorState {
        let reading = |(vital, worker, value): &(Vital, Option<u16>, f64)| Reading {
            vital: *vital,
            worker: *worker,
            value: *value,
        };
        GeneratorState {
            at: Instant::from_ns(second * 1_000_000_000),
            readings: readings.iter().map(reading).collect(),
        }
    }

    #[test]
    fn states_come_back_as_they_were_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let create = Store::create(&path, &Header::default(), Arc::default(), Arc::default(), false);
        let mut store = create.expect("create");
        let states = [
            state(1, &[(Vital::WorkerCpu, Some(0), 0.1), (Vital::WorkerCpu, Some(1), 0.2)]),
            state(2, &[(Vital::WorkerCpu, Some(0), 0.3), (Vital::TimerLag, None, 0.1 + 0.2)]),
            state(3, &[(Vital::TimerLag, None, 7.0)]),
        ];
        store.transaction(|store| store.put_states(&states[..2], None)).expect("write");
        store.transaction(|store| store.put_states(&states[2..], None)).expect("write");
        store.transaction(|store| store.put_states(&states[1..2], Some("b"))).expect("write");
        store.close().expect("close");
        let reader = Reader::open(&path).expect("open");
        let by_instance = reader.generator_states_by_instance().expect("read");
        assert_eq!(by_instance[""], states);
        assert_eq!(by_instance["b"], states[1..2]);
        assert_eq!(reader.generator_states().expect("read").len(), 4);
    }

    /// Who opens the page of a run that has just begun reads how its generator is, long before the first minute is over.
    #[test]
    fn the_first_states_are_readable_before_a_minute_is_over() {
        /// Looks at the file at most, ten milliseconds apart.
        const LOOKS: u32 = 1_000;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let mut writer =
            crate::Writer::create(&path, &Header::default(), Arc::default(), Arc::default()).expect("create");
        for second in 0..15 {
            writer.state(state(second, &[(Vital::WorkerCpu, Some(0), 0.1)]));
        }
        let known = || Reader::open(&path).ok().and_then(|reader| reader.generator_states().ok());
        for _ in 0..LOOKS {
            if known().is_some_and(|states| !states.is_empty()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(known().map(|states| states.len()), Some(10), "the others follow with the next ones");
    }
}
