//! A worker: it takes messages from all four queues and does what they ask for, as many at once as it has slots.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use amqprs::channel::{BasicAckArguments, BasicNackArguments, Channel, ConsumerMessage};
use lab::Assignment;
use labkit::{Attribute, Log, Metrics, SpanKind, Timed, Trace, Tracer};
use model::{Clock, Instant, SystemClock};
use serde_json::json;
use signal_hook::consts::SIGTERM;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, Semaphore};

use crate::broker::{self, Broker, Message, failed};
use crate::consumers::Consumers;
use crate::faults;
use crate::llm_client::LlmClient;
use crate::metrics::{self, Counts};
use crate::seed::{REWARDED_PERCENT, SLOTS, Times};
use crate::stage::Stage;
use crate::store::{Beat, Store};
use crate::variant::Variant;

/// How often it reports itself and reads which faults are active.
const BEAT: Duration = Duration::from_millis(50);

/// The time that work in progress may take after a request to stop; after that, other workers do it again.
const DRAIN_LIMIT: Duration = Duration::from_millis(1500);

/// State shared by all of a worker's tasks.
pub(crate) struct Worker {
    pub(crate) name: String,
    order: [Stage; 4],
    store: Store,
    broker: Broker,
    llm: LlmClient,
    tracer: Tracer,
    log: Log,
    counts: Counts,
    /// Messages that were taken and wait for a slot; RabbitMQ sends no more of them than the prefetch limit.
    waiting: Mutex<[VecDeque<Delivery>; 4]>,
    arrived: Notify,
    /// Messages taken and not acknowledged, by [`Stage::index`].
    held: [AtomicUsize; 4],
    running: AtomicUsize,
    is_ending: AtomicBool,
    redelivers: AtomicBool,
    /// A permit stands for one picture's memory.
    pub(crate) memory: Arc<Semaphore>,
}

/// A message that was taken.
struct Delivery {
    stage: Stage,
    tag: u64,
    channel: Channel,
    message: Message,
}

/// Works until it is asked to stop, or a server that it needs is gone.
pub(crate) async fn run(assignment: &Assignment) -> Result<(), String> {
    let is_asked = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, is_asked.clone())
        .map_err(|error| format!("listen for signals: {error}"))?;
    let variant =
        Variant::from_name(&assignment.variant).ok_or_else(|| format!("be {:?}", assignment.variant))?;
    let name = assignment.part.clone();
    let service = if name == crate::CANARY { "scan-worker-canary" } else { "scan-worker" };
    let store = Store::connect(assignment.server("redis")?).await?;
    let metrics = Arc::new(Metrics::new(metrics::OF_PARTS));
    let worker = Arc::new(Worker {
        order: variant.order(),
        broker: Broker::connect(assignment.server("rabbitmq")?, &name).await?,
        llm: LlmClient::find(&store).await?,
        tracer: Tracer::new(assignment.otlp.as_deref(), service, metrics),
        log: Log::create(&assignment.log).map_err(|error| format!("write the log: {error}"))?,
        name,
        store,
        counts: Counts::default(),
        waiting: Mutex::default(),
        arrived: Notify::new(),
        held: Default::default(),
        running: AtomicUsize::new(0),
        is_ending: AtomicBool::new(false),
        redelivers: AtomicBool::new(false),
        memory: Arc::new(Semaphore::new(SLOTS)),
    });
    let mut consumers = Consumers::open(&worker.broker).await?;
    tokio::spawn(dispatch(worker.clone()));
    worker.follow(&mut consumers, &is_asked).await
}

/// Gives each slot that becomes free the next message.
async fn dispatch(worker: Arc<Worker>) {
    let slots = Arc::new(Semaphore::new(SLOTS));
    while let Ok(slot) = slots.clone().acquire_owned().await {
        let delivery = worker.next().await;
        let worker = worker.clone();
        worker.running.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            worker.work(delivery).await;
            worker.running.fetch_sub(1, Ordering::Relaxed);
            drop(slot);
        });
    }
}

impl Worker {
    /// Reports itself and follows orders, until it is asked to stop.
    async fn follow(
        self: &Arc<Self>,
        consumers: &mut Consumers,
        is_asked: &AtomicBool,
    ) -> Result<(), String> {
        let mut acting: Option<String> = None;
        let mut seen = SystemClock::now();
        loop {
            let beat = Beat { faults: acting.clone().unwrap_or_default(), held: self.held() };
            let ordered = self.store.beat(&self.name, &beat, &self.counts.take()).await?;
            if acting.as_ref() != Some(&ordered) {
                self.redelivers.store(faults::has(&ordered, faults::REDELIVERY), Ordering::Relaxed);
                consumers.obey(self, &ordered).await?;
                acting = Some(ordered);
                continue;
            }
            if !self.broker.is_open() {
                return Err("use RabbitMQ: it has closed the connection".to_owned());
            }
            if is_asked.load(Ordering::Relaxed) {
                return self.finish(consumers).await;
            }
            tokio::time::sleep(BEAT).await;
            let now = SystemClock::now();
            self.observe(consumers, now.since(seen));
            seen = now;
        }
    }

    /// Counts the time in which it could have done more.
    fn observe(&self, consumers: &Consumers, passed: Duration) {
        let Some(prefetch) = consumers.prefetch() else {
            return self.counts.add(metrics::NOT_CONSUMING, "", passed.as_secs_f64());
        };
        let is_free = self.running.load(Ordering::Relaxed) < SLOTS;
        let is_exhausted = self.held().iter().any(|held| *held >= usize::from(prefetch));
        if is_free && is_exhausted && self.waiting().iter().all(VecDeque::is_empty) {
            self.counts.add(metrics::PREFETCH_EXHAUSTED, "", passed.as_secs_f64());
        }
    }

    /// Takes no more and ends what is under way, if that does not take too long. RabbitMQ gives the rest to others.
    async fn finish(&self, consumers: &mut Consumers) -> Result<(), String> {
        self.is_ending.store(true, Ordering::Relaxed);
        consumers.cancel().await?;
        let asked = SystemClock::now();
        while self.running.load(Ordering::Relaxed) > 0 && SystemClock::now().since(asked) < DRAIN_LIMIT {
            tokio::time::sleep(BEAT).await;
        }
        // The receiver of the counts may have gone first.
        let _ = self.store.beat(&self.name, &Beat::default(), &self.counts.take()).await;
        Ok(())
    }

    /// Takes in what a queue sends, until the consumer is cancelled.
    pub(crate) async fn take_in(
        self: Arc<Self>,
        stage: Stage,
        channel: Channel,
        mut messages: UnboundedReceiver<ConsumerMessage>,
    ) {
        while let Some(message) = messages.recv().await {
            let (Some(deliver), Some(content)) = (message.deliver, message.content) else { continue };
            let tag = deliver.delivery_tag();
            let Ok(message) = serde_json::from_slice(&content) else {
                // None of ours; it would come again and again.
                let _ = channel.basic_nack(BasicNackArguments::new(tag, false, false)).await;
                continue;
            };
            self.held[stage.index()].fetch_add(1, Ordering::Relaxed);
            self.waiting()[stage.index()].push_back(Delivery {
                stage,
                tag,
                channel: channel.clone(),
                message,
            });
            self.arrived.notify_one();
        }
    }

    /// The next message, as soon as there is one, in the order of the variant.
    async fn next(&self) -> Delivery {
        loop {
            if let Some(delivery) = self.pop() {
                return delivery;
            }
            self.arrived.notified().await;
        }
    }

    fn pop(&self) -> Option<Delivery> {
        if self.is_ending.load(Ordering::Relaxed) {
            return None;
        }
        let mut waiting = self.waiting();
        self.order.iter().find_map(|stage| waiting[stage.index()].pop_front())
    }

    async fn work(&self, delivery: Delivery) {
        let Delivery { stage, tag, channel, message } = delivery;
        let began = SystemClock::now();
        let waited_ns = SystemClock.wall_unix_ns().saturating_sub(message.queued_unix_ns);
        let waited_s = Duration::from_nanos(u64::try_from(waited_ns).unwrap_or_default()).as_secs_f64();
        self.counts.add(metrics::QUEUE_WAIT_SECONDS, stage.labels(), waited_s);
        let mut trace = self.tracer.trace(Some(message.traceparent.as_str()));
        trace.link(&message.published);
        let done = self.step(stage, &mut trace).await;
        let is_given_back =
            stage == Stage::Answer && self.redelivers.load(Ordering::Relaxed) && fastrand::u8(..3) == 0;
        let handed_on = if is_given_back {
            self.counts.add(metrics::GIVEN_BACK, "", 1.0);
            channel.basic_nack(BasicNackArguments::new(tag, false, true)).await.map_err(failed)
        } else {
            self.hand_on(stage, message.clone(), &done, &mut trace).await
        };
        if !is_given_back && handed_on.is_ok() {
            // A client without this answer sends the message again.
            let _ = channel.basic_ack(BasicAckArguments::new(tag, false)).await;
        }
        self.held[stage.index()].fetch_sub(1, Ordering::Relaxed);
        self.end(stage, &message, trace, began, waited_s, done.and(handed_on));
    }

    /// Does what a step is.
    async fn step(&self, stage: Stage, trace: &mut Trace) -> Result<(), String> {
        match stage {
            Stage::Vision => {
                let began = SystemClock::now();
                let _room = self.memory.acquire().await.map_err(|error| error.to_string())?;
                let waited_s = SystemClock::now().since(began).as_secs_f64();
                self.counts.add(metrics::MEMORY_WAIT, "", waited_s);
                self.ask_model(stage, trace).await
            }
            Stage::Answer => self.ask_model(stage, trace).await,
            Stage::Rule | Stage::Reward => {
                tokio::time::sleep(Times::for_stage(stage).draw(fastrand::f64())).await;
                Ok(())
            }
        }
    }

    async fn ask_model(&self, stage: Stage, trace: &mut Trace) -> Result<(), String> {
        let (began, call) = (SystemClock::now(), trace.below());
        let answer = self.llm.call(stage, &trace.traceparent_below(call)).await;
        trace.end_below(
            call,
            Timed {
                name: format!("POST /{}", stage.name()).into(),
                kind: SpanKind::Client,
                began,
                ended: SystemClock::now(),
                attributes: vec![("peer.service", Attribute::Text("scan-llm".into()))],
                is_error: answer.is_err(),
            },
        );
        let answer = answer?;
        self.counts.add(metrics::LLM_CALLS, "", 1.0);
        self.counts.add(metrics::LLM_SECONDS, "", answer.took_s);
        self.counts.add(metrics::LLM_LIMITED, "", answer.waited_s);
        Ok(())
    }

    /// Reports the progress of the scan, and puts it into the next queue where there is one.
    async fn hand_on(
        &self,
        stage: Stage,
        message: Message,
        done: &Result<(), String>,
        trace: &mut Trace,
    ) -> Result<(), String> {
        let state = match (done, stage.next()) {
            (Err(_), _) => "failed",
            (Ok(()), Some(next)) => next.name(),
            (Ok(()), None) if fastrand::u8(..100) < REWARDED_PERCENT => "rewarded",
            (Ok(()), None) => "unrewarded",
        };
        self.store.set_state(&message.id, state).await?;
        match stage.next() {
            Some(next) if done.is_ok() => self.broker.publish(next, message, trace).await,
            _ => Ok(()),
        }
    }

    fn end(
        &self,
        stage: Stage,
        message: &Message,
        trace: Trace,
        began: Instant,
        waited_s: f64,
        done: Result<(), String>,
    ) {
        let ended = SystemClock::now();
        self.counts.add(metrics::TASKS, stage.labels(), 1.0);
        self.counts.add(metrics::TASK_SECONDS, stage.labels(), ended.since(began).as_secs_f64());
        if done.is_err() {
            self.counts.add(metrics::FAILED, "", 1.0);
        }
        let level = if done.is_ok() { "info" } else { "error" };
        let fields = json!({
            "trace_id": trace.id(),
            "task": message.id,
            "queue": stage.queue(),
            "waited_ms": waited_s * 1e3,
            "duration_ms": ended.ms_since(began),
            "error": done.as_ref().err(),
        });
        self.log.line(level, "task", fields);
        trace.end(Timed {
            name: format!("process {}", stage.queue()).into(),
            kind: SpanKind::Consumer,
            began,
            ended,
            attributes: broker::attributes(stage, message),
            is_error: done.is_err(),
        });
    }

    fn held(&self) -> [usize; 4] {
        Stage::ALL.map(|stage| self.held[stage.index()].load(Ordering::Relaxed))
    }

    fn waiting(&self) -> MutexGuard<'_, [VecDeque<Delivery>; 4]> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
