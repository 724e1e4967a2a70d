//! RabbitMQ: the four queues, and the messages in them.

use amqprs::BasicProperties;
use amqprs::channel::{BasicPublishArguments, Channel, QueueDeclareArguments};
use amqprs::connection::{Connection, OpenConnectionArguments};
use amqprs::error::Error;
use labkit::{Attribute, SpanKind, Timed, Trace};
use model::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use crate::stage::Stage;

/// The body of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The scan.
    pub(crate) id: String,
    /// The request that sent it in, as in a header of that name.
    pub(crate) traceparent: String,
    /// The span that published it, in the same form: the consumer's span links to it.
    pub(crate) published: String,
    /// When it was put into its queue, in nanoseconds since 1970.
    pub(crate) queued_unix_ns: i64,
}

/// A connection, with a channel to publish on and to ask about queues.
pub(crate) struct Broker {
    connection: Connection,
    channel: Channel,
}

/// Ready messages and consumers of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Messages that are ready.
    pub(crate) ready: usize,
    /// Consumers.
    pub(crate) consumers: usize,
}

/// Span attributes of a message.
pub(crate) fn attributes(stage: Stage, message: &Message) -> Vec<(&'static str, Attribute)> {
    vec![
        ("messaging.system", Attribute::Text("rabbitmq".into())),
        ("messaging.destination.name", Attribute::Text(stage.queue().into())),
        ("messaging.message.id", Attribute::Text(message.id.clone().into())),
    ]
}

/// RabbitMQ refuses or is gone; the text reads after "failed to".
pub(crate) fn failed(error: Error) -> String {
    format!("use RabbitMQ: {error}")
}

impl Broker {
    /// Connects in the name of a process, and makes the queues that are not there.
    ///
    /// # Errors
    /// RabbitMQ does not take it.
    pub(crate) async fn connect(url: &str, name: &str) -> Result<Broker, String> {
        let (user, password, host, port) =
            parse(url).ok_or_else(|| "read the address of RabbitMQ".to_owned())?;
        let mut arguments = OpenConnectionArguments::new(host, port, user, password);
        let connection = Connection::open(arguments.connection_name(name)).await.map_err(failed)?;
        let channel = connection.open_channel(None).await.map_err(failed)?;
        let broker = Broker { connection, channel };
        for stage in Stage::ALL {
            broker.declare(QueueDeclareArguments::durable_client_named(stage.queue())).await?;
        }
        Ok(broker)
    }

    /// A channel of its own.
    ///
    /// # Errors
    /// RabbitMQ refuses or is gone.
    pub(crate) async fn open_channel(&self) -> Result<Channel, String> {
        self.connection.open_channel(None).await.map_err(failed)
    }

    /// Puts a message into the queue of a step, and traces that (OpenTelemetry, "Messaging spans").
    ///
    /// # Errors
    /// RabbitMQ is gone.
    pub(crate) async fn publish(
        &self,
        stage: Stage,
        mut message: Message,
        trace: &mut Trace,
    ) -> Result<(), String> {
        let (began, span) = (SystemClock::now(), trace.below());
        message.published = trace.traceparent_below(span);
        message.queued_unix_ns = SystemClock.wall_unix_ns();
        let sent = self.send(stage, &message).await;
        trace.end_below(
            span,
            Timed {
                name: format!("send {}", stage.queue()).into(),
                kind: SpanKind::Producer,
                began,
                ended: SystemClock::now(),
                attributes: attributes(stage, &message),
                is_error: sent.is_err(),
            },
        );
        sent
    }

    async fn send(&self, stage: Stage, message: &Message) -> Result<(), String> {
        // A closed connection accepts messages that are then lost.
        if !self.connection.is_open() {
            return Err("use RabbitMQ: the connection is closed".to_owned());
        }
        let content = serde_json::to_vec(message).unwrap_or_default();
        let to = BasicPublishArguments::new("", stage.queue());
        self.channel.basic_publish(BasicProperties::default(), content, to).await.map_err(failed)
    }

    /// Whether RabbitMQ is still there.
    pub(crate) fn is_open(&self) -> bool {
        self.connection.is_open() && self.channel.is_open()
    }

    /// How each queue stands, by [`Stage::index`].
    ///
    /// # Errors
    /// RabbitMQ is gone.
    pub(crate) async fn queues(&self) -> Result<[Queue; 4], String> {
        let mut queues = [Queue::default(); 4];
        for (stage, queue) in Stage::ALL.iter().zip(&mut queues) {
            let mut asked = QueueDeclareArguments::durable_client_named(stage.queue());
            *queue = self.declare(asked.passive(true).finish()).await?;
        }
        Ok(queues)
    }

    async fn declare(&self, arguments: QueueDeclareArguments) -> Result<Queue, String> {
        let declared = self.channel.queue_declare(arguments).await.map_err(failed)?;
        let (_, ready, consumers) = declared.unwrap_or_default();
        Ok(Queue { ready: ready as usize, consumers: consumers as usize })
    }
}

/// User, password, host and port of `amqp://USER:PASSWORD@HOST:PORT/`, as the lab writes it.
fn parse(url: &str) -> Option<(&str, &str, &str, u16)> {
    let (login, place) = url.strip_prefix("amqp://")?.split_once('@')?;
    let (user, password) = login.split_once(':')?;
    let (host, port) = place.trim_end_matches('/').split_once(':')?;
    Some((user, password, host, port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_as_the_lab_writes_it() {
        let whole = parse("amqp://lab:0af7@127.0.0.1:41007/");
        assert_eq!(whole, Some(("lab", "0af7", "127.0.0.1", 41007)));
        for torn in ["", "amqp://", "amqp://lab@127.0.0.1:1/", "amqp://lab:x@127.0.0.1/", "redis://a:b@c:1/"]
        {
            assert_eq!(parse(torn), None, "{torn}");
        }
    }
}
