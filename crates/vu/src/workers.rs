//! Worker threads: each an async runtime of its own, so that nothing a VU touches is shared or locked.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::recent::Keeping;
use crate::slices::Watched;

type Task = Box<dyn FnOnce() + Send>;

/// A row of threads. Dropping it lets each finish the tasks it has been given to start, then ends it; tasks still
/// waiting then are dropped.
pub struct Workers {
    threads: Vec<(mpsc::UnboundedSender<Task>, JoinHandle<()>)>,
}

impl Workers {
    /// Starts `count` threads, at least one.
    ///
    /// # Errors
    /// The system has no thread or no event queue left.
    pub fn start(count: usize) -> std::io::Result<Workers> {
        let watched = Watched::start()?;
        let start = |index| start_thread(index, watched.clone());
        let threads = (0..count.max(1)).map(start).collect::<std::io::Result<_>>()?;
        Ok(Workers { threads })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Starts a task on thread `index` (modulo their number). The closure runs there and makes the future there, so
    /// the future need not be `Send`.
    pub fn spawn<F, Fut>(&self, index: usize, make: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let (tasks, _) = &self.threads[index % self.threads.len()];
        // A closed queue means that the thread has panicked; `join` reports it.
        let _ = tasks.send(Box::new(move || {
            tokio::task::spawn_local(make());
        }));
    }

    /// A sender for tasks of one thread, for those who must not hold all of them.
    pub fn spawner(&self, index: usize) -> Spawner {
        Spawner(self.threads[index % self.threads.len()].0.clone())
    }

    /// Waits for all threads to end. Tasks that never end are dropped once every [`Spawner`] is gone.
    ///
    /// # Panics
    /// A worker thread panicked: passes it on.
    pub fn join(self) {
        let (queues, handles): (Vec<_>, Vec<_>) = self.threads.into_iter().unzip();
        drop(queues);
        for handle in handles {
            if let Err(payload) = handle.join() {
                std::panic::resume_unwind(payload);
            }
        }
    }
}

/// Starts tasks on one worker thread from anywhere.
#[derive(Clone)]
pub struct Spawner(mpsc::UnboundedSender<Task>);

impl Spawner {
    /// Like [`Workers::spawn`].
    pub fn spawn<F, Fut>(&self, make: F)
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let _ = self.0.send(Box::new(move || {
            tokio::task::spawn_local(make());
        }));
    }
}

/// Runs `future` and the local tasks that it starts on the calling thread, as a worker thread does.
///
/// # Errors
/// The system has no event queue left.
pub fn run_here<F: Future>(future: F) -> std::io::Result<F::Output> {
    Ok(Runtime::new()?.run(future))
}

fn start_thread(
    index: usize,
    watched: Arc<Watched>,
) -> std::io::Result<(mpsc::UnboundedSender<Task>, JoinHandle<()>)> {
    let runtime = Runtime::new()?;
    let (sender, mut tasks) = mpsc::unbounded_channel::<Task>();
    let handle = std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || {
        let _keeping = Keeping::start();
        let _registration = watched.register();
        runtime.run(async move {
            while let Some(task) = tasks.recv().await {
                task();
            }
        });
    })?;
    Ok((sender, handle))
}

/// The event queue and the timer of a thread that runs tasks.
struct Runtime {
    runtime: tokio::runtime::Runtime,
    timer: OwnedFd,
}

impl Runtime {
    fn new() -> std::io::Result<Runtime> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .on_thread_unpark(crate::timer::thread_is_up)
            .build()?;
        Ok(Runtime { runtime, timer: crate::timer::descriptor()? })
    }

    fn run<F: Future>(self, future: F) -> F::Output {
        let local = tokio::task::LocalSet::new();
        let tasks = local.run_until(async move {
            crate::timer::install(self.timer);
            future.await
        });
        self.runtime.block_on(crate::turns::serve(pin!(tasks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;
    use std::sync::mpsc::channel;

    #[test]
    fn tasks_run_on_their_thread() {
        let workers = Workers::start(2).unwrap();
        let (sender, names) = channel();
        for index in 0..4 {
            let sender = sender.clone();
            workers.spawn(index, move || {
                let not_send = Rc::new(index);
                async move {
                    let name = std::thread::current().name().map(str::to_owned);
                    sender.send((*not_send, name.unwrap())).unwrap();
                }
            });
        }
        let mut seen: Vec<_> = names.iter().take(4).collect();
        seen.sort();
        workers.join();
        assert_eq!(
            seen.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(),
            ["worker-0", "worker-1", "worker-0", "worker-1"]
        );
    }
}
