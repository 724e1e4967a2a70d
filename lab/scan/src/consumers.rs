//! The queues that a worker consumes, and how faults change that.

use std::sync::Arc;

use amqprs::channel::{BasicCancelArguments, BasicConsumeArguments, BasicQosArguments, Channel};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::broker::{Broker, failed};
use crate::faults;
use crate::seed::{PREFETCH, SLOTS};
use crate::stage::Stage;
use crate::worker::Worker;

/// Pictures that fit into a worker's memory while that is the fault.
const PICTURES_MAX: u32 = 2;

/// A worker's consumers, one for each queue, each on a channel of its own.
pub(crate) struct Consumers {
    channels: Vec<(Stage, Channel)>,
    /// Consumer tags; empty while it does not consume.
    tags: Vec<String>,
    prefetch: u16,
    /// How often it has begun to consume.
    round: u32,
    /// Keeps memory from the tasks while it is there.
    squeeze: Option<Squeeze>,
}

/// Memory that is withheld. It is waited for beside the tasks, and given back when this is dropped.
struct Squeeze(JoinHandle<Option<OwnedSemaphorePermit>>);

impl Drop for Squeeze {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Consumers {
    /// Opens the channels and consumes nothing yet.
    ///
    /// # Errors
    /// As for all that follow: RabbitMQ refuses or is gone.
    pub(crate) async fn open(broker: &Broker) -> Result<Consumers, String> {
        let mut channels = Vec::new();
        for stage in Stage::ALL {
            channels.push((stage, broker.open_channel().await?));
        }
        Ok(Consumers { channels, tags: Vec::new(), prefetch: PREFETCH, round: 0, squeeze: None })
    }

    /// How many messages of a queue it takes at once; `None` while it does not consume.
    pub(crate) fn prefetch(&self) -> Option<u16> {
        (!self.tags.is_empty()).then_some(self.prefetch)
    }

    /// Has these faults act and no others.
    pub(crate) async fn obey(&mut self, worker: &Arc<Worker>, ordered: &str) -> Result<(), String> {
        let is_off = faults::has(ordered, faults::TOO_FEW_CONSUMERS) && worker.name != crate::CANARY;
        let prefetch = if faults::has(ordered, faults::PREFETCH_TOO_SMALL) { 1 } else { PREFETCH };
        let wanted = (!is_off).then_some(prefetch);
        if wanted != self.prefetch() {
            self.cancel().await?;
            if let Some(prefetch) = wanted {
                self.consume(worker, prefetch).await?;
            }
        }
        let issqueezed = faults::has(ordered, faults::MEMORY_LIMIT);
        if issqueezed != self.squeeze.is_some() {
            self.squeeze = issqueezed.then(|| squeeze(worker));
        }
        Ok(())
    }

    /// Takes no more. What it holds already it may still do and acknowledge.
    pub(crate) async fn cancel(&mut self) -> Result<(), String> {
        for ((_, channel), tag) in self.channels.iter().zip(std::mem::take(&mut self.tags)) {
            channel.basic_cancel(BasicCancelArguments::new(&tag)).await.map_err(failed)?;
        }
        Ok(())
    }

    async fn consume(&mut self, worker: &Arc<Worker>, prefetch: u16) -> Result<(), String> {
        self.prefetch = prefetch;
        self.round += 1;
        for (stage, channel) in &self.channels {
            // It holds for consumers that begin after it (RabbitMQ, "Consumer Prefetch").
            channel.basic_qos(BasicQosArguments::new(0, prefetch, false)).await.map_err(failed)?;
            let tag = format!("{}.{}.{}", worker.name, stage.queue(), self.round);
            let mut arguments = BasicConsumeArguments::new(stage.queue(), &tag);
            let consumed = channel.basic_consume_rx(arguments.manual_ack(true).finish()).await;
            let (tag, messages) = consumed.map_err(failed)?;
            tokio::spawn(worker.clone().take_in(*stage, channel.clone(), messages));
            self.tags.push(tag);
        }
        Ok(())
    }
}

fn squeeze(worker: &Worker) -> Squeeze {
    let memory = worker.memory.clone();
    let taken = u32::try_from(SLOTS).unwrap_or_default().saturating_sub(PICTURES_MAX);
    Squeeze(tokio::spawn(async move { memory.acquire_many_owned(taken).await.ok() }))
}
