//! The objects of one run in a cluster, from their creation to their removal.

use serde_json::Value;

use crate::client::{ApiError, ApiErrorKind, Client};
use crate::objects::{BATCH, CORE, Owner, Shape};
use crate::watch::Snapshot;

/// Attempts to remove the objects.
const ATTEMPTS: u32 = 3;

/// Events per request.
const EVENTS_MAX: &str = "500";

/// The objects of a run. [`Deployment::remove`] removes them.
pub struct Deployment {
    /// The client of the cluster.
    pub client: Client,
    /// The Job.
    pub job: Owner,
    /// The facts that the objects were made from.
    pub shape: Shape,
}

impl Deployment {
    /// Creates the Job and the Secret that it owns. Pods wait for the Secret. Nothing is left behind by a failure.
    ///
    /// # Errors
    /// The server is unreachable or refuses an object.
    pub fn create(client: Client, shape: Shape, token: &str) -> Result<Deployment, ApiError> {
        let jobs = client.path(BATCH, "jobs");
        let job = client
            .create(&jobs, &shape.job(), false)
            .map_err(|error| advised(error, "the Job", &shape.namespace))?;
        let uid = job["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let job = Owner { name: shape.name.clone(), uid };
        let deployment = Deployment { client, job, shape };
        let secret = deployment.shape.secret(token, Some(&deployment.job));
        let created = deployment.client.create(&deployment.client.path(CORE, "secrets"), &secret, false);
        match created {
            Ok(_) => Ok(deployment),
            Err(error) => {
                // The Job ends by its deadline where even this fails.
                let _ = deployment.remove();
                Err(advised(error, "the Secret", &deployment.shape.namespace))
            }
        }
    }

    /// Looks at the Job, its pods and their events.
    ///
    /// # Errors
    /// The Job or its pods cannot be read.
    pub fn look(&self) -> Result<Snapshot, ApiError> {
        let name = &self.shape.name;
        let job = match self.client.get(&format!("{}/{name}", self.client.path(BATCH, "jobs")), &[]) {
            Ok(job) => Some(job),
            Err(error) if error.kind == ApiErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let selector = format!("batch.kubernetes.io/job-name={name}");
        let pods = self.client.list(&self.client.path(CORE, "pods"), &[("labelSelector", &selector)])?;
        let of_job = format!("involvedObject.kind=Job,involvedObject.name={name}");
        let mut events = self.events(&of_job);
        events.extend(self.events("involvedObject.kind=Pod,type=Warning"));
        let is_own = |event: &Value| {
            let about = event["involvedObject"]["name"].as_str().unwrap_or_default();
            about.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        Ok(Snapshot { job, pods, events: events.into_iter().filter(is_own).collect() })
    }

    /// Events of the namespace. Without the permission there are none, and reasons in the pods' status are left.
    fn events(&self, selector: &str) -> Vec<Value> {
        let query = [("fieldSelector", selector), ("limit", EVENTS_MAX)];
        let mut answer = self.client.get(&self.client.path(CORE, "events"), &query).unwrap_or_default();
        answer["items"].as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Removes the objects, and with the Job its pods.
    ///
    /// # Errors
    /// The server is unreachable or refuses, three times.
    pub fn remove(&self) -> Result<(), ApiError> {
        let delete = |path: String| {
            let path = format!("{path}/{}", self.shape.name);
            let mut last = self.client.delete(&path);
            for _ in 1..ATTEMPTS {
                if last.is_ok() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_secs(1));
                last = self.client.delete(&path);
            }
            last
        };
        // The Secret goes first: it is what must not stay.
        let secret = delete(self.client.path(CORE, "secrets"));
        delete(self.client.path(BATCH, "jobs")).and(secret)
    }
}

/// Adds the next step to a refusal.
fn advised(error: ApiError, object: &str, namespace: &str) -> ApiError {
    let is_quota = error.message.contains("exceeded quota");
    let next = match error.kind {
        ApiErrorKind::Forbidden if is_quota => "; raise the quota, or use fewer agents".to_owned(),
        ApiErrorKind::Forbidden => {
            format!(
                "; the permissions that you need: plimsoll kubernetes rbac --namespace {namespace} --user NAME"
            )
        }
        ApiErrorKind::Unauthenticated => "; log in to the cluster again, and check --context".to_owned(),
        ApiErrorKind::Unreachable => "; check --context, and that `kubectl cluster-info` answers".to_owned(),
        ApiErrorKind::NotFound | ApiErrorKind::Conflict | ApiErrorKind::Invalid | ApiErrorKind::Other => {
            String::new()
        }
    };
    ApiError {
        message: format!("failed to create {object} in the namespace {namespace}: {}{next}", error.message),
        ..error
    }
}
