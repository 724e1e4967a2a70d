//! Words for faults of a measurement.

use model::Fault;

use crate::Lang;

/// The topic of a fault, in a few words.
pub fn topic(fault: Fault, lang: Lang) -> &'static str {
    match fault {
        Fault::StartLag => lang.lateness(),
        Fault::Dropped | Fault::DroppedByTarget | Fault::DroppedByGenerator | Fault::DroppedWhileStarting => {
            lang.topic_rate()
        }
        Fault::WorkerCpu => lang.topic_cpu(),
        Fault::Throttled => lang.topic_throttled(),
        Fault::RunDelay => lang.topic_run_delay(),
        Fault::Steal => lang.topic_steal(),
        Fault::TimerLag => lang.topic_timer_lag(),
        Fault::Coverage | Fault::LongWindows | Fault::WindowsLost | Fault::WorkersLost => {
            lang.topic_coverage()
        }
        Fault::Network | Fault::Retransmission => lang.topic_segments(),
        Fault::Exhausted | Fault::Recorded | Fault::Little | Fault::Connects | Fault::Unsteady => {
            lang.topic_requests()
        }
        Fault::Ports => lang.topic_ports(),
        Fault::Descriptors => lang.topic_descriptors(),
        Fault::Clock => lang.topic_clock(),
    }
}
