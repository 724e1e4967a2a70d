//! Whether a run's numbers can be trusted: what is said about the generator and the data before the target.

use std::ops::Range;

/// The validity grade of a run or of one second of it, from good to bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grade {
    /// It was measured, and nothing is wrong with it.
    Valid,
    /// Too little was measured to say anything; silence makes nothing valid.
    #[default]
    Unmeasured,
    /// It can be used with the care that its reasons ask for.
    Degraded,
    /// It says more about the generator than about the target.
    Invalid,
}

impl Grade {
    /// The word for machines: `valid`, `unmeasured`, `degraded`, `invalid`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Grade::Valid => "valid",
            Grade::Unmeasured => "unmeasured",
            Grade::Degraded => "degraded",
            Grade::Invalid => "invalid",
        }
    }
}

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal;)*) => {
        /// A fault of a measurement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &[Fault] = &[$(Fault::$variant,)*];

            /// Its name for machines.
            pub const fn as_str(self) -> &'static str {
                match self { $(Fault::$variant => $name,)* }
            }
        }
    };
}

faults! {
    /// Iterations started after they were due.
    StartLag = "start_lag";
    /// Iterations did not start, for an unknown reason.
    Dropped = "dropped";
    /// Iterations did not start, since all VUs waited for the target.
    DroppedByTarget = "dropped_target";
    /// Iterations did not start, since the generator was busy.
    DroppedByGenerator = "dropped_generator";
    /// Iterations did not start, since VUs had yet to be made.
    DroppedWhileStarting = "dropped_starting";
    /// A worker thread had no core to spare.
    WorkerCpu = "worker_cpu";
    /// The cgroup's CPU was throttled.
    Throttled = "throttled";
    /// Worker threads waited for a core.
    RunDelay = "run_delay";
    /// Another virtual machine had the cores.
    Steal = "steal";
    /// Timers woke late.
    TimerLag = "timer_lag";
    /// Windows are missing, or of another time than the run.
    Coverage = "coverage";
    /// Windows are much longer than a second.
    LongWindows = "long_windows";
    /// Nothing came back.
    Network = "network";
    /// Requests failed for want of a port, a descriptor or a buffer.
    Exhausted = "exhausted";
    /// Local ports were nearly used up.
    Ports = "ports";
    /// File descriptors were nearly used up.
    Descriptors = "descriptors";
    /// TCP segments were sent again.
    Retransmission = "retransmission";
    /// Connections took as long as those whose first packet is lost.
    Connects = "connects";
    /// Requests made are not requests recorded.
    Recorded = "recorded";
    /// Seconds are not in the run's file.
    WindowsLost = "windows_lost";
    /// Worker threads never handed over.
    WorkersLost = "workers_lost";
    /// Agents were lost while the scenarios ran.
    AgentsLost = "agents_lost";
    /// Request time is not covered by any metric.
    Little = "little";
    /// The target's level changed for good while the load did not, or never settled.
    Unsteady = "unsteady";
    /// The wall clock was set.
    Clock = "clock";
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A part of a whole: 0.05 is 5 %.
    Share(f64),
    /// Milliseconds.
    Milliseconds(f64),
    /// Things.
    Count(f64),
}

impl Amount {
    /// The number in its own unit.
    pub const fn value(self) -> f64 {
        match self {
            Amount::Share(value) | Amount::Milliseconds(value) | Amount::Count(value) => value,
        }
    }

    /// Its unit: `1` for shares, `ms`, and none for things.
    pub const fn unit(self) -> &'static str {
        match self {
            Amount::Share(_) => "1",
            Amount::Milliseconds(_) => "ms",
            Amount::Count(_) => "",
        }
    }
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The fault.
    pub fault: Fault,
    /// How bad it is for the whole run. [`Grade::Valid`] is a remark: a few seconds that change nothing.
    pub grade: Grade,
    /// The worst value measured.
    pub observed: Amount,
    /// The limit that it should not have passed.
    pub limit: Amount,
    /// Windows in which it was so, as ranges of their indexes; empty where it is of the run as a whole.
    pub windows: Vec<Range<u32>>,
}

impl Reason {
    /// How many windows it names.
    pub fn window_count(&self) -> u32 {
        self.windows.iter().map(|range| range.end - range.start).sum()
    }
}

/// The verdict about a run's measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validity {
    /// The grade of the whole run.
    pub grade: Grade,
    /// Why, the worst first. A valid run may have remarks.
    pub reasons: Vec<Reason>,
    /// Faults that such a run can have and that were not measured, in the order of the rules.
    pub unmeasured: Vec<Fault>,
    /// Every judged window and its grade, in their order.
    pub windows: Vec<(u32, Grade)>,
}

impl Validity {
    /// How many judged windows have this grade.
    pub fn count(&self, grade: Grade) -> usize {
        self.windows.iter().filter(|(_, of_window)| *of_window == grade).count()
    }
}
