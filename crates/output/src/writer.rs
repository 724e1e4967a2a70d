//! The thread and the queue that every file export has.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Metadata, RunEvent, Sample, SystemClock};

use crate::sink::Sink;
use crate::{Output, OutputError, OutputReport};

/// Batches of samples that wait for a slow disk; what comes while so many wait is lost and counted.
pub const QUEUE_BATCHES_MAX: usize = 1024;

type Batch = Arc<Vec<(Sample, Option<Metadata>)>>;

/// How samples become bytes.
pub trait Format: Send {
    /// Writes what stands before the first sample.
    ///
    /// # Errors
    /// The destination refuses.
    fn start(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes one sample.
    ///
    /// # Errors
    /// The destination refuses.
    fn sample(&mut self, sample: &Sample, metadata: Option<&Metadata>, out: &mut dyn Write)
    -> io::Result<()>;
}

/// An export into a file.
pub(crate) struct FileOutput {
    description: String,
    queue: SyncSender<Batch>,
    thread: JoinHandle<Written>,
    lost: u64,
}

/// The result of the thread.
struct Written {
    samples: u64,
    lost: u64,
    error: Option<OutputError>,
}

/// Opens `path` and starts writing to it; what was gathered is written out each `flush_interval`.
pub(crate) fn open(
    kind: &str,
    path: &str,
    flush_interval: Duration,
    format: Box<dyn Format>,
) -> Result<Box<dyn Output>, OutputError> {
    let sink = Sink::open(path)?;
    let name = Sink::name(path).to_owned();
    Ok(Box::new(start(format!("{kind} ({name})"), name, sink, flush_interval, format)?))
}

fn start(
    description: String,
    path: String,
    sink: Sink,
    flush_interval: Duration,
    format: Box<dyn Format>,
) -> Result<FileOutput, OutputError> {
    let (queue, batches) = sync_channel(QUEUE_BATCHES_MAX);
    let thread = std::thread::Builder::new()
        .name("output".into())
        .spawn(move || run(&batches, sink, path, flush_interval, format))
        .map_err(OutputError::Thread)?;
    Ok(FileOutput { description, queue, thread, lost: 0 })
}

impl Output for FileOutput {
    fn description(&self) -> &str {
        &self.description
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn on_event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Samples(batch) => match self.queue.try_send(batch.clone()) {
                Ok(()) => {}
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                    self.lost += batch.len() as u64;
                }
            },
            RunEvent::SamplesLost { count } => self.lost = self.lost.saturating_add(*count),
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> OutputReport {
        let FileOutput { description, queue, thread, lost } = *self;
        // Without a sender the thread writes what waits, and ends.
        drop(queue);
        let stopped = |_| Written { samples: 0, lost: 0, error: Some(OutputError::Stopped) };
        let written = thread.join().unwrap_or_else(stopped);
        OutputReport {
            description,
            written: written.samples,
            lost: lost.saturating_add(written.lost),
            error: written.error,
            note: None,
        }
    }
}

fn run(
    batches: &Receiver<Batch>,
    mut sink: Sink,
    path: String,
    flush_interval: Duration,
    mut format: Box<dyn Format>,
) -> Written {
    let mut written = Written { samples: 0, lost: 0, error: None };
    let result = write_all(batches, &mut sink, flush_interval, format.as_mut(), &mut written);
    if let Err(source) = result.and_then(|()| sink.finish()) {
        written.error = Some(OutputError::Write { path, source });
        // The queue is emptied to its end, so that what is lost is counted in full.
        written.lost += batches.iter().map(|batch| batch.len() as u64).sum::<u64>();
    }
    written
}

fn write_all(
    batches: &Receiver<Batch>,
    sink: &mut Sink,
    flush_interval: Duration,
    format: &mut dyn Format,
    written: &mut Written,
) -> io::Result<()> {
    format.start(sink)?;
    let mut flush_at = SystemClock::now() + flush_interval;
    loop {
        match batches.recv_timeout(flush_at.since(SystemClock::now())) {
            Ok(batch) => write_batch(&batch, sink, format, written)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if SystemClock::now() >= flush_at {
            sink.flush()?;
            flush_at = SystemClock::now() + flush_interval;
        }
    }
}

fn write_batch(
    batch: &Batch,
    sink: &mut Sink,
    format: &mut dyn Format,
    written: &mut Written,
) -> io::Result<()> {
    for (index, (sample, metadata)) in batch.iter().enumerate() {
        if let Err(error) = format.sample(sample, metadata.as_ref(), sink) {
            written.lost += (batch.len() - index) as u64;
            return Err(error);
        }
        written.samples += 1;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::BufWriter;
    use std::sync::mpsc::{Sender, channel};

    use model::{Instant, Mark, MetricId, TagSetId};

    use super::*;

    /// Writes the value of each sample as a byte.
    struct Bytes;

    impl Format for Bytes {
        fn start(&mut self, out: &mut dyn Write) -> io::Result<()> {
            out.write_all(b"[")
        }

        fn sample(&mut self, sample: &Sample, _: Option<&Metadata>, out: &mut dyn Write) -> io::Result<()> {
            out.write_all(&[sample.value as u8])
        }
    }

    /// Sends on what it is given, waits before each write, and fails after a number of writes.
    struct Disk {
        written: Sender<u8>,
        go: Receiver<()>,
        writes_left: u32,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.go.recv();
            self.writes_left = self.writes_left.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            bytes.iter().for_each(|byte| self.written.send(*byte).expect("the test listens"));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn disk(writes_left: u32) -> (FileOutput, Receiver<u8>, Sender<()>) {
        let (written, read) = channel();
        let (allow, go) = channel();
        let disk: Box<dyn Write + Send> = Box::new(Disk { written, go, writes_left });
        let sink = Sink::Plain(BufWriter::with_capacity(1, disk));
        let output = start("d".into(), "disk".into(), sink, Duration::from_secs(60), Box::new(Bytes));
        (output.expect("a thread"), read, allow)
    }

    /// Samples with these values, of one metric and without tags.
    pub(crate) fn batch(values: &[u8]) -> RunEvent {
        let sample = |value: &u8| Sample {
            metric: MetricId(0),
            tags: TagSetId::EMPTY,
            value: f64::from(*value),
            at: Instant::ZERO,
            mark: Mark::Measured,
        };
        RunEvent::Samples(Arc::new(values.iter().map(|value| (sample(value), None)).collect()))
    }

    #[test]
    fn everything_is_written_in_order() {
        let (mut output, read, allow) = disk(u32::MAX);
        drop(allow);
        output.on_event(&batch(b"ab"));
        output.on_event(&RunEvent::SetupStarted);
        output.on_event(&batch(b"c"));
        let report = Box::new(output).finish();
        assert_eq!((report.written, report.lost, report.warning()), (3, 0, None));
        assert_eq!(read.iter().collect::<Vec<u8>>(), b"[abc");
    }

    #[test]
    fn a_slow_disk_loses_samples_and_says_so() {
        let (mut output, read, allow) = disk(u32::MAX);
        let batches = QUEUE_BATCHES_MAX + 10;
        (0..batches).for_each(|_| output.on_event(&batch(b"ab")));
        output.on_event(&RunEvent::SamplesLost { count: 5 });
        drop(allow);
        let report = Box::new(output).finish();
        // The thread may have taken one batch off the queue before it had to wait.
        assert!(report.lost >= 5 + 2 * 9, "{report:?}");
        assert_eq!(report.written + report.lost, 2 * batches as u64 + 5);
        assert_eq!(read.iter().count() as u64, 1 + report.written);
        let warning = report.warning().expect("samples are missing");
        assert_eq!(
            warning,
            format!("d: {} of {} samples are missing from the export", report.lost, 2 * batches + 5)
        );
    }

    #[test]
    fn a_full_disk_ends_the_export_and_counts_the_rest() {
        let (mut output, _read, allow) = disk(2);
        drop(allow);
        output.on_event(&batch(b"abcd"));
        output.on_event(&batch(b"ef"));
        let report = Box::new(output).finish();
        assert_eq!((report.written, report.lost), (1, 5));
        let warning = report.warning().expect("the disk is full");
        assert_eq!(
            warning,
            "d: failed to write to \"disk\": no storage space; 5 of 6 samples are missing from the export"
        );
    }
}
