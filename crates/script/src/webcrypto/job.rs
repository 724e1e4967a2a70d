//! Work that takes long enough to be done beside the VUs.

use std::sync::LazyLock;

use rquickjs::{Persistent, Value};
use tokio::sync::{Semaphore, oneshot};

use super::natives::thrown;
use crate::js::Args;

/// How many such jobs run at once in the whole process: one per core, because they do nothing but compute.
static PLACES: LazyLock<Semaphore> = LazyLock::new(|| {
    Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get))
});

/// Converts a job's outcome to JavaScript, back at its VU.
type Show<T> = for<'js> fn(&rquickjs::Ctx<'js>, T) -> rquickjs::Result<Value<'js>>;

/// Runs `work` on a thread of its own and returns a promise of what `show` makes of its outcome.
///
/// The thread is not the runtime's, which would wait for it at the end of a run: a job whose VU has gone runs on by itself
/// and ends with the process.
pub(super) fn beside<'js, T: Send + 'static>(
    args: &Args<'_, 'js>,
    work: impl FnOnce() -> crypto::Result<T> + Send + 'static,
    show: Show<T>,
) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = args.ctx.promise()?;
    let resolve = Persistent::save(args.ctx, resolve);
    let reject = Persistent::save(args.ctx, reject);
    args.vu.events.spawn(Box::pin(async move {
        let outcome = run(work).await;
        let completion: crate::state::events::Completion = Box::new(move |ctx| {
            let shown = match outcome {
                Some(Ok(value)) => show(ctx, value),
                Some(Err(error)) => Err(thrown(ctx, error)),
                None => Err(crate::js::go_error(ctx, "the system has no thread for this")),
            };
            match shown {
                Ok(value) => resolve.restore(ctx)?.call((value,)),
                Err(rquickjs::Error::Exception) => reject.restore(ctx)?.call((ctx.catch(),)),
                Err(error) => Err(error),
            }
        });
        completion
    }));
    Ok(promise.into_value())
}

/// `None` when there was no thread to be had.
async fn run<T: Send + 'static>(
    work: impl FnOnce() -> crypto::Result<T> + Send + 'static,
) -> Option<crypto::Result<T>> {
    let place = PLACES.acquire().await.ok()?;
    let (sender, receiver) = oneshot::channel();
    let thread = std::thread::Builder::new().name("crypto".into());
    let spawned = thread.spawn(move || {
        // The receiver is gone when the VU was cancelled.
        let _ = sender.send(work());
        drop(place);
    });
    spawned.ok()?;
    receiver.await.ok()
}
