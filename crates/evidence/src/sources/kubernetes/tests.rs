//! The source against responses built from the published API.

use model::{Datum, Epoch, Instant};

use super::*;
use crate::contract::promises;
use crate::lines::shown;
use crate::stage::{Pages, Reply};

const PODS: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[
 {"metadata":{"name":"worker-1","namespace":"shop","uid":"u1"},
  "status":{"phase":"Running","containerStatuses":[
   {"name":"app","restartCount":3,"state":{"running":{"startedAt":"2026-01-27T03:58:00Z"}},
    "lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"2026-01-27T03:57:59Z"}}}]}},
 {"metadata":{"name":"worker-2","namespace":"shop","uid":"u2"},"status":{"phase":"Pending"}}]}"#;

const EVENTS: &str = r#"{"kind":"EventList","apiVersion":"v1","metadata":{},"items":[
 {"metadata":{"name":"a","uid":"e1"},"involvedObject":{"kind":"HorizontalPodAutoscaler","name":"worker"},
  "reason":"SuccessfulRescale","message":"New size: 3; reason: external metric above target","type":"Normal",
  "lastTimestamp":"2026-01-27T03:59:00Z","count":1},
 {"metadata":{"name":"b","uid":"e2"},"involvedObject":{"kind":"Pod","name":"worker-2"},"reason":"FailedScheduling",
  "message":"0/2 nodes are available\u001b[2J","type":"Warning","firstTimestamp":null,"lastTimestamp":null,
  "eventTime":"2026-01-27T03:58:30.500000Z","reportingComponent":"default-scheduler","reportingInstance":"s"},
 {"metadata":{"name":"c","uid":"e3"},"involvedObject":{"kind":"Pod","name":"worker-1"},"reason":"Pulled",
  "message":"image present","type":"Normal","lastTimestamp":"2026-01-27T03:58:00Z"},
 {"metadata":{"name":"d","uid":"e4"},"involvedObject":{"kind":"Deployment","name":"worker"},"reason":"ScalingReplicaSet",
  "message":"before the run","type":"Normal","lastTimestamp":"2026-01-27T03:00:00Z"}]}"#;

const DEPLOYMENTS: &str = r#"{"items":[{"metadata":{"name":"worker"},
 "spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"app","image":"registry.example/worker:1.4.2",
  "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"250m"}}}]}}},
 "status":{"replicas":3,"availableReplicas":1}}]}"#;

const AUTOSCALERS: &str = r#"{"items":[{"metadata":{"name":"worker"},
 "spec":{"minReplicas":1,"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"worker"},
  "metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}]},
 "status":{"currentReplicas":1,"desiredReplicas":3}}]}"#;

const SCALED_OBJECTS: &str = r#"{"items":[{"metadata":{"name":"worker"},
 "spec":{"minReplicaCount":1,"maxReplicaCount":3,"idleReplicaCount":0,"pollingInterval":30,"scaleTargetRef":{"name":"worker"},
  "triggers":[{"type":"rabbitmq","metricType":"AverageValue","metadata":{"queueName":"scan.vision","mode":"QueueLength","value":"20",
   "host":"amqp://guest:hunter2@rabbitmq:5672"}}]}}]}"#;

fn answer(path: &str) -> Reply {
    let lists = [
        ("/api/v1/namespaces/shop/pods", PODS),
        ("/api/v1/namespaces/shop/events", EVENTS),
        ("/apis/apps/v1/namespaces/shop/deployments", DEPLOYMENTS),
        ("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", AUTOSCALERS),
        ("/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects", SCALED_OBJECTS),
    ];
    let found = lists.iter().find(|(list, _)| path.split('?').next() == Some(list));
    found.map_or((404, "{}".to_owned()), |(_, body)| (200, (*body).to_owned()))
}

fn source(address: &str) -> Result<Box<dyn Source>, SettingsError> {
    let values = [("namespace", "shop"), ("step", "1s")];
    crate::sources::open(&Settings {
        name: "cluster".to_owned(),
        kind: "kubernetes".to_owned(),
        address: address.to_owned(),
        credential: Some("t0psecret".to_owned()),
        values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    })
}

/// Returns the period of the recorded run: 03:56:31.7 to 04:00:09.6.
fn run() -> Period {
    let epoch = Epoch { at: Instant::from_ns(5_000_000_000), wall_unix_ns: 1_769_486_191_700_000_000 };
    let moment = |after_s: u64| Moment::new(Instant::from_ns((5 + after_s) * 1_000_000_000), &epoch);
    Period { from: moment(0), to: moment(218) }
}

#[test]
fn promises_are_kept_with_the_published_api() {
    let api = Pages::start(answer);
    let mut source = source(&api.url("")).expect("settings that are right");
    let evidence = promises::of_a_source(source.as_mut(), Some("t0psecret"));
    let of = |name: &str| evidence.signals.iter().filter(|signal| signal.name == name).collect::<Vec<_>>();
    assert_eq!(of("deployment_replicas_wanted")[0].points[0].1, 3.0);
    assert_eq!(of("container_restarts")[0].labels["pod"], "worker-1");
    assert_eq!(of("pods").len(), 3);
}

#[test]
fn what_is_no_list_is_trouble() {
    for body in ["[]", "7", "{}", "{\"items\":7}", "null"] {
        let api = Pages::start(move |_| (200, body.to_owned()));
        let mut source = source(&api.url("")).expect("settings that are right");
        assert!(
            source.look_back(&run()).is_err_and(|trouble| trouble.message.contains("expected a JSON list")),
            "{body}"
        );
    }
}

#[test]
fn what_happened_and_what_was_configured_is_told() {
    let api = Pages::start(answer);
    let mut source = source(&api.url("")).expect("settings that are right");
    let evidence = source.look_back(&run()).expect("it is there");
    assert!(!format!("{evidence:?}").contains("hunter2"), "a trigger's address has a password");
    let shown: Vec<String> = evidence.records.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "happening pod/worker-1/app: exit_code=137 reason=OOMKilled",
            "happening horizontalpodautoscaler/worker: message=New size: 3; reason: external metric above target \
         reason=SuccessfulRescale",
            "happening pod/worker-2: message=0/2 nodes are available [2J reason=FailedScheduling",
            "configuration deployment/worker/app: cpu_limit=1 cpu_request=250m image=registry.example/worker:1.4.2 \
         memory_limit=1Gi replicas=3",
            "configuration horizontalpodautoscaler/worker: metrics=Resource cpu averageUtilization=70 replicas_max=3 \
         replicas_min=1 scales=deployment/worker",
            "configuration scaledobject/worker: polling_interval_s=30 replicas_idle=0 replicas_max=3 replicas_min=1 \
         scales=deployment/worker triggers=rabbitmq queueName=scan.vision mode=QueueLength value=20 metricType=AverageValue",
        ]
    );
    // 03:59:00 is 148.3 s after the start of the run.
    assert_eq!(evidence.records[1].at, Instant::from_ns(153_300_000_000));
    let again = source.look_back(&run()).expect("it is there");
    assert!(again.records.iter().all(|record| record.kind != RecordKind::Happening), "nothing happens twice");
}

/// Without permissions the probe prints the Role, and a forbidden list does not affect the others.
#[test]
fn what_is_forbidden_is_named_with_its_grant() {
    let forbidden = r#"{"kind":"Status","status":"Failure","message":"events is forbidden","code":403}"#;
    let api = Pages::start(move |path| match path.contains("/events") || path.contains("/scaledobjects") {
        true if path.contains("/events") => (403, forbidden.to_owned()),
        true => (404, "404 page not found".to_owned()),
        false => answer(path),
    });
    let mut source = source(&api.url("")).expect("settings that are right");
    let checks = source.probe();
    let wrong: Vec<&Check> = checks.iter().filter(|check| check.outcome.is_err()).collect();
    let [events] = wrong[..] else { panic!("{checks:?}") };
    let missing = events.outcome.as_ref().expect_err("it is refused");
    assert!(!missing.is_fatal && events.what == "events", "{missing:?}");
    assert!(
        missing.remedy.contains("kind: Role\n") && missing.remedy.contains("namespace: shop"),
        "{missing:?}"
    );
    assert!(
        missing.remedy.contains("{ apiGroups: [\"keda.sh\"], resources: [scaledobjects], verbs: [list] }")
    );
    let evidence = source.look_back(&run()).expect("the rest is there");
    let warning =
        evidence.records.iter().find(|record| record.kind == RecordKind::Warning).expect("a warning");
    assert_eq!(warning.subject, "events cannot be listed");
}

#[test]
fn long_lists_are_read_page_by_page_up_to_a_limit() {
    let api = Pages::start(|path| {
        if !path.contains("/pods") {
            return (404, String::new());
        }
        let pod = r#"{"metadata":{"name":"p"},"status":{"phase":"Running"}}"#;
        let pods = vec![pod; 250].join(",");
        let more = r#""metadata":{"continue":"next","remainingItemCount":41}"#;
        (200, format!("{{{more},\"items\":[{pods}]}}"))
    });
    let mut source = source(&api.url("")).expect("settings that are right");
    let evidence = source.look_back(&run()).expect("it is there");
    assert_eq!(evidence.records[0].fields["objects"], Datum::from(41.0));
}

#[test]
fn promises_are_kept_without_a_server() {
    promises::of_an_absent_server(source("http://127.0.0.1:9").expect("settings that are right").as_mut());
}

#[test]
fn settings_are_checked() {
    let check = |name: &str, value: &str, expect: &str| {
        let error = crate::sources::open(&Settings {
            name: "cluster".to_owned(),
            kind: "kubernetes".to_owned(),
            address: "https://h".to_owned(),
            values: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..Settings::default()
        });
        let error = error.err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(expect)), "{error:?}");
    };
    check("namespace", "shop/../kube-system", "expected the name of a namespace");
    check("ca", "nowhere.pem", "cannot be read");
    check("ca", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "no PEM certificate");
    check("step", "10ms", "the minimum is");
}
