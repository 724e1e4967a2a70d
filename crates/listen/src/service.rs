//! A service that reports its requests.

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming as Received;
use hyper::service::{Service, service_fn};

use crate::activity::{Activity, Incoming, Outgoing};

/// Returns a service that answers as `inner` does and reports its requests to `activity`.
pub fn serve_with<S, B>(
    inner: S,
    activity: Activity,
) -> impl Service<
    Request<Received>,
    Response = Response<Outgoing<B>>,
    Error = S::Error,
    Future = impl Future<Output = Result<Response<Outgoing<B>>, S::Error>> + Send,
> + Clone
where
    S: Service<Request<Incoming<Received>>, Response = Response<B>> + Clone,
    S::Error: std::error::Error + Send + Sync + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Unpin,
{
    service_fn(move |request: Request<Received>| {
        let turn = activity.begin();
        let answer = inner.call(request.map(|body| turn.body(body)));
        async move { answer.await.map(|response| response.map(|body| Outgoing::new(body, turn))) }
    })
}
