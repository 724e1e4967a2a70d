//! A service that reports its requests.

use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming as Received;
use hyper::service::Service;

use crate::activity::{Activity, Incoming, Outgoing};

/// A service that answers as another one does and reports its requests to an activity.
#[derive(Clone, Debug)]
pub struct Reporting<S> {
    inner: S,
    activity: Activity,
}

impl<S> Reporting<S> {
    /// Returns a service that answers as `inner` does and reports its requests to `activity`.
    pub fn new(inner: S, activity: Activity) -> Reporting<S> {
        Reporting { inner, activity }
    }
}

impl<S, B> Service<Request<Received>> for Reporting<S>
where
    S: Service<Request<Incoming<Received>>, Response = Response<B>>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Unpin,
{
    type Response = Response<Outgoing<B>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn call(&self, request: Request<Received>) -> Self::Future {
        let turn = self.activity.begin();
        let answer = self.inner.call(request.map(|body| turn.body(body)));
        Box::pin(async move { Ok(answer.await?.map(|body| Outgoing::new(body, turn))) })
    }
}
