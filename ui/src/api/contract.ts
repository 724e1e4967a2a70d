/**
 * The contract between `plimsoll serve` / the live page of `plimsoll run` / `report --format html` and the page in `ui/`.
 *
 * Rules
 *  - All keys camelCase. Times `t` are SECONDS from the run's first window (may have a fraction); `…Ms` are milliseconds;
 *    wall clock times are RFC 3339 in UTC. Shares are of 1. Durations in ms. Data in bytes.
 *  - `null` always means "there is none", and a neighbouring key says why.
 *  - The page computes no statistic. Where a number is shown as text, a `Value` brings that text, the terminal's own.
 *    Chart readouts (crosshair, axis) are formatted by the page from raw numbers, by the rules of
 *    crates/report/src/number.rs; the golden vectors are crates/report/golden/{numbers,bytes,shares}.tsv (use them in a unit test).
 *  - All strings that come from scripts/servers are hostile: text nodes only.
 *  - `lang=en|ko` (default en) on any GET changes sentences (`line`, `sentence`, `why…Text`), never keys or numbers.
 *  - `from=&to=` (seconds, to exclusive; integers) restrict any GET under /runs/{id} to these windows; all numbers are then of the window.
 *  - Errors: status 4xx/5xx with ApiError. GETs have an ETag; `If-None-Match` gives 304.
 */

export interface ApiError { error: { status: number; title: string; detail: string } }

/** A number, as measured and as the terminal prints it. */
export interface Value {
  /** In the metric's unit; with `censored` a lower bound; null where there is none. */
  value: number | null;
  /** `812.34ms`, `99.20%`, `1.2 MB`, `> 60 s (timeout)`, `n/a`. */
  text: string;
  /** `timeout` `cut` `dropped` `failed` `n/a: …`; absent for a measured number. */
  censored?: string;
}
export interface Fact { name: string; value: string }

export type Grade = "valid" | "unmeasured" | "degraded" | "invalid";
export type Verdict = "pass" | "fail" | "inconclusive";
export type State = "complete" | "partial" | "live";
export type Status = "live" | "passed" | "failed" | "partial" | "imported";

// ───────────────────────────────────────────────────────────── GET /api/v1/about
export interface About {
  version: string;
  /** `serve` (all runs), `run` (the live page of one run; other runs of the place are listed too), `report` (a file). */
  mode: "serve" | "run" | "report";
  /** Where runs are kept, in words. */
  place: string;
  /** The run that this process is running or the report is of. */
  run: string | null;
  /** Whether notes, baselines and stop are possible. False in a report. */
  canWrite: boolean;
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs?script=&tag=NAME=VALUE&status=&limit=&before=
export interface RunList {
  place: string;
  /** The newest first. */
  runs: RunRow[];
  /** Pass as `before=` for older ones; null when there are none. */
  before: string | null;
  /** Files that could not be read; at most 20. */
  unreadable: { file: string; why: string }[];
}
export interface RunRow {
  id: string;
  /** Empty if nobody named it. */
  name: string;
  script: string;
  /** Null where the source of an imported run does not say. */
  started: string | null;
  status: Status;
  state: State;
  exitCode: number | null;
  /** Format that another tool's run was read from: `k6-json`, `ngrinder`, … */
  imported: string | null;
  targetVersion: string;
  tags: Fact[];
  elapsed: Value;
  /** Null only while it is live. */
  grade: Grade | null;
  verdict: Verdict;
  thresholds: { held: number; total: number };
  figures: RunFigures;
  /** The note written on the page (PUT …/note); notes in the run's own file are in the run document. */
  note: string;
  /** At most one per script. */
  isBaseline: boolean;
  bytes: number;
  /** Load shape: achieved requests/s in at most 40 equal parts of the run; a number, or null for a lost part. */
  shape: (number | null)[];
}
export interface RunFigures {
  requests: Value;
  /** Requests per second. */
  rate: Value;
  /** Share of failed requests. */
  failed: Value;
  p50: Value;
  p95: Value;
  p99: Value;
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}?from=&to=&lang=      ({id}: id, a beginning of it, @last, @prev)
export interface RunPage {
  /** docs/format/report.schema.json (1.2.0): what `plimsoll report --format json` writes, without what is asked for apart. */
  report: Report;
  status: Status;
  /** Windows that exist: 0 ≤ t < seconds. */
  seconds: number;
  /** What the numbers are of; the whole run without from/to. */
  window: { from: number; to: number; isWhole: boolean };
  /** RFC 3339 of t = 0. */
  zero: string;
  /** RFC 3339; null while live or unknown. */
  ended: string | null;
  scenarios: { name: string; executor: string; isOpen: boolean }[];
  /** Why there is no response time: all scenarios closed. Null otherwise. */
  noResponseTime: string | null;
  /** Metrics that have samples, for pickers. */
  metrics: { name: string; type: string; contains: "default" | "time" | "data" }[];
  /** Rerun command. */
  command: string;
  modules: { path: string; sha256: string }[];
  /** For the tabs. */
  counts: { requests: number; errors: number; logs: number; thresholds: number; traces: number };
  headline: Headline;
  note: string;
  isBaseline: boolean;
  /** `plimsoll serve` and the link, to reopen the run when this process is gone. */
  reopen: string;
}
/** What stands in the header of each screen and in the validity strip; `validity.line` is the sentence. */
export interface Headline {
  verdict: Verdict;
  sentence: string;
  grade: Grade | null;
  /** One per thing that validity looks at, for the strip; the worst first among those that are not ok. */
  strip: StripItem[];
  figures: RunFigures;
  /** Iterations. */
  iterations: { due: Value; started: Value; finished: Value; dropped: Value };
}
export interface StripItem {
  /** `dropped` `generator_cpu` `run_delay` `lateness` `timer_lag` `sockets` `network` `recorded` `steady` `clock` `throttled` `steal` */
  key: string;
  status: "ok" | "warn" | "fail" | "unknown";
  value: Value;
  limit: Value | null;
}
/** docs/format/report.schema.json; the file is the truth. */
export interface Report {
  schemaVersion: string;
  validity: Validity | null;
  verdict: { verdict: Verdict; sentence: string };
  run: {
    id: string; name: string; script: string; state: State; started: string; elapsedMs: number;
    window?: { fromMs: number; toMs: number };
    plimsollVersion: string; commit: string; dirty: boolean; targetVersion: string;
    tags: Fact[]; notes: string[];
    imported?: { source: string; file: string; isStartKnown: boolean; gaps: string[]; figures: { name: string; value: number; unit: string; note: string }[] };
  };
  outcome: { exitCode: number; message: string } | null;
  thresholds: Threshold[];
  metrics: Metric[];
  checks: Check[];
  scenarios: Part[];
  groups: Part[];
  endpoints: { method: string; name: string; requests: number; failed: number; duration: Metric }[];
  errors: { code: number; message: string; count: number; example: string }[];
  errorsBeyond: number;
  exemplars: { kind: "slowest" | "failed" | "bucket"; atMs: number; duration: Value; method: string; url: string; status: string; traceId?: string; isTraceKept: boolean; /** Whose its time was, where its trace says so. */ parts?: { name: PartName; duration: Value }[]; error: string }[];
  generator: { workers: number; workersLost: number; samplesLost: number; windowsLost: number; drops: { scenario: string; cause: "vus_exhausted" | "vu_starting" | "time_up"; count: number }[] };
  environment: Fact[];
  options: Record<string, unknown> | null;
  log: { before: number; lines: string[] };
}
export interface Validity {
  grade: Grade;
  line: string;
  reasons: { fault: string; grade: Grade; observed: number; limit: number; unit: string; seconds: [number, number][] }[];
  unmeasured: string[];
  seconds: { valid: number; unmeasured: number; degraded: number; invalid: number };
}
export interface Threshold {
  metric: string; condition: string; ok: boolean; statistic: string; observed: Value;
  limit: number | null;
  /** Room left in the metric's unit, negative when crossed; null for bounds and == !=. */
  margin: number | null;
  marginShare: number | null;
}
export interface Metric {
  name: string; type: "counter" | "gauge" | "rate" | "trend"; contains: "default" | "time" | "data";
  /** Ordered as the terminal shows them. */
  values: Record<string, Value>;
  precision?: "exact" | "histogram"; relativeErrorMax?: number; untimed?: number; notApplicable?: string;
}
export interface Check { name: string; passes: number; fails: number }
export interface Part { name: string; path: string; checks: Check[]; metrics: Metric[]; groups: Part[] }

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/series?metric=&tags=&from=&to=&step=
/** Columns over time. All columns are as long as `t`. Windows that were lost have no `t` (leave the gap: neighbours are further apart than `step`). */
export interface Series {
  /** Seconds per point: 1, 10, 60, 300 or 600; chosen so that there are ≤ 1500 points unless asked for. */
  step: number;
  /** Start of each point. */
  t: number[];
  /** Seconds that each point really covers (the last one may be shorter). */
  width: number[];
  /** Iterations per second that were due by plan; values null where a scenario has no planned rate. */
  offered: Column;
  /** Iterations started per second. */
  started: Column;
  /** Iterations finished per second. */
  finished: Column;
  /** Iterations per second that were due and not started. */
  dropped: Column;
  /** Requests per second. */
  requests: Column;
  /** Failed requests per second. */
  failed: Column;
  /** VUs that run; last value of the point. */
  vus: Column;
  vusMax: Column;
  /** Mean number of requests under way (Little's law: an integral, no sample). */
  inFlight: Column;
  /** Bytes per second. */
  sent: Column;
  received: Column;
  /** At most 8 kinds and `other`; per second. */
  errors: { kind: string; code: number; values: number[]; total: number }[];
  /** Of `metric` (default: http_req_response_time where it exists, else http_req_duration), of the tags asked for. */
  latency: Latency;
  /** `setup_started` `scenarios_started` `scenarios_ended` `teardown_started` `ended` … */
  marks: { t: number; kind: string; text: string }[];
  /** Limits of thresholds on `metric` that can be drawn: quantiles, avg, max. */
  limits: { condition: string; statistic: string; value: number; ok: boolean; text: string }[];
}
export interface Column {
  values: (number | null)[];
  /** Why points (indexes from ≤ i < to) have no value or only a bound; empty where all is well. */
  notes: Note[];
}
export interface Note {
  from: number; to: number;
  /** `no_samples`; `few_samples` (fewer than 10 beyond the quantile); `failed` (it lies among failures without a time);
   *  `at_least` (the value is a lower bound: timeouts, cut responses, drops); `unplanned` (no planned rate). */
  why: "no_samples" | "few_samples" | "failed" | "at_least" | "unplanned";
}
export interface Latency {
  metric: string; contains: "default" | "time" | "data"; tags: string;
  p50: Column; p95: Column; p99: Column; max: Column; mean: Column;
  /** Samples per point. */
  count: number[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/requests?from=&to=
export interface Requests {
  /** The metric of the times: http_req_duration. */
  metric: string;
  total: RequestNode | null;
  /** Scenarios, each with groups and requests below. */
  nodes: RequestNode[];
  /** Endpoints beyond 1,000, those with the fewest requests. */
  leftOut: number;
  /** All statuses there are, for the matrix's columns; "0" is: no response. */
  statuses: string[];
}
export interface RequestNode {
  kind: "scenario" | "group" | "request" | "total";
  /** Stable key for the URL. */
  key: string;
  /** Scenario, group, or the tag `name`. */
  name: string;
  /** Of requests. */
  method: string;
  /** Pass as `tags=` to /series and /distribution: JSON, opaque. Empty where no filter is possible. */
  tags: string;
  count: Value;
  rate: Value;
  failed: Value;
  failedShare: Value;
  stats: { avg: Value; min: Value; p50: Value; p90: Value; p95: Value; p99: Value; max: Value };
  /** Share of all request time (sum of durations). */
  share: Value;
  /** In order: blocked, lookingUp, connecting, tls, sending, waiting, receiving. Means add up to blocked + … ; lookingUp is part of blocked. Empty for nodes without samples. */
  phases: { name: "blocked" | "lookingUp" | "connecting" | "tls" | "sending" | "waiting" | "receiving"; mean: Value; p95: Value }[];
  /** By the tags status and error_code. */
  statuses: { status: string; errorCode: string; count: number; failed: number }[];
  children: RequestNode[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/distribution?metric=&tags=&from=&to=
export interface Distribution {
  metric: string; contains: "default" | "time" | "data"; tags: string;
  /** All that was tried; those with a time; failed without one. */
  population: number; timed: number; untimed: number;
  precision: "exact" | "histogram"; relativeErrorMax: number;
  /** Log buckets, at most 120, no gaps between them: bounds[i] < x ≤ bounds[i+1]. Empty without samples. */
  histogram: { bounds: number[]; counts: number[] };
  /** The metric's own curve first; beside http_req_response_time that of http_req_duration, and the other way round, where both exist. */
  curves: Curve[];
  /** p50 p90 p95 p99 p99.9 p99.99 max; those without support say so. */
  marks: { q: number; label: string; value: Value; isSupported: boolean; /** Samples that it would need. */ needs: number }[];
  heat: {
    step: number; t: number[];
    /** At most 48 rows of values; same rule as above. */
    bounds: number[];
    /** counts[i] is the column of t[i], from the lowest row. */
    counts: number[][];
    countMax: number;
  };
}
export interface Curve {
  metric: string;
  /** Quantiles (0…1) with at least 10 samples beyond them, from 0 on; dense towards 1. */
  q: number[];
  /** At these quantiles; null where it lies among failures without a time. */
  values: (number | null)[];
  /** From this index on values are lower bounds; null if none is. */
  atLeastFrom: number | null;
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/errors?from=&to=
export interface Errors {
  total: number;
  /** Of all requests, or null without requests. */
  requests: number;
  errors: {
    code: number; message: string; count: number;
    /** Of all errors. */
    share: Value;
    example: string;
    tags: Fact[];
    /** First and last window that has it. */
    first: number; last: number;
    /** Counts in at most 60 equal parts of the window that is shown. */
    shape: number[];
  }[];
  /** Errors without an entry of their own, because there were too many distinct ones. */
  beyond: number;
  exemplars: Report["exemplars"];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/logs?after=&level=&limit=&q=
export interface Logs {
  lines: LogLine[];
  /** Pass as `after=`; null at the end of what there is. */
  next: number | null;
  /** Of all lines of the run. */
  total: number;
  /** Lines over the limit of the file. */
  lost: number;
}
export interface LogLine {
  /** From 1, in order. */
  id: number; t: number; at: string;
  level: "debug" | "info" | "warning" | "error";
  /** `console`, `stacktrace`, or empty for the runner itself. */
  source: string;
  message: string;
  fields: Fact[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/generator?from=&to=
export interface Generator {
  workers: number;
  host: Fact[];
  /** Same items as Headline.strip. */
  strip: StripItem[];
  vitals: {
    /** `worker_cpu` `worker_run_delay` `other_cpu` `host_cpu` `host_steal` `throttled` `timer_lag` `ports` `ports_max` `descriptors` `descriptors_max` `segments_sent` `segments_repeated` `syn_repeated` `listen_drops` `resident`, and `lateness_p99` (ms) */
    name: string;
    /** `1` share, `ms`, `By`, empty: a number. */
    unit: string;
    worker: number | null;
    t: number[];
    values: number[];
    max: Value;
  }[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/validity?from=&to=&lang=
export interface ValidityPage {
  validity: Validity;
  /** Sentences in the language asked for, in the order of validity.reasons. */
  reasons: { fault: string; grade: Grade; sentence: string; observed: Value; limit: Value; seconds: [number, number][] }[];
  unmeasured: { fault: string; text: string }[];
  /** Runs of seconds of one grade (inclusive), in order. */
  grades: { from: number; to: number; grade: Grade }[];
  strip: StripItem[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/audit
/** Exactly what `plimsoll audit --format json` writes; with `lang=ko` its sentences are Korean. */
export interface Audit {
  schemaVersion: string;
  sources: string[];
  findings: { rule: string; severity: "note" | "warning" | "error"; strength: string; place: string; claim: string; original?: string; evidence: AuditFigure[]; implies: string; remedy: string; caveats: string[] }[];
  beyond: { rule: string; count: number }[];
  derived: { law: string; place: string; says: string; figures: AuditFigure[]; caveats: string[] }[];
  remarks: string[];
  remarksBeyond: number;
}
export interface AuditFigure { name: string; value: number | null; unit: string; text: string }

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/thresholds
export interface Thresholds {
  thresholds: (Threshold & {
    abortOnFail: boolean;
    /** How it stood each time it was judged (cumulative, as k6 judges). At most 1500 points. */
    t: number[];
    values: (number | null)[];
    oks: boolean[];
    limitText: string;
    marginText: string | null;
  })[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/traces?service=&operation=&min_ms=&max_ms=&status=ok|error&kept=&q=&limit=
export type PartName = "network" | "target" | "database" | "external" | "queue" | "unseen" | "poll" | "connecting";
export interface TraceSample { share: Value | null; sampled: number; errors: number; slowest: number; buckets: number; found: number }
export interface TracePart { name: PartName; duration: Value; share: Value; count: number }
export interface TraceRow {
  /** 32 hexadecimal digits. */
  id: string;
  t: number; at: string;
  /** Of the root. */
  service: string; operation: string;
  /** Until the last of its work was over. */
  duration: Value;
  /** Of the root alone. */
  answer: Value;
  /** Share of the root's operation that took no longer. */
  place: Value | null;
  errors: number; spans: number;
  kept: "sample" | "error" | "slowest" | "bucket" | "found";
  /** Shares: network, target, database, external, queue, unseen, poll. */
  parts: number[];
}
export interface StageRow { kind: "queue" | "work" | "between" | "submit" | "poll"; name: string; traces: number; mean: Value; p95: Value; share: Value }
export interface SpeedDifference {
  operation: string; fast: number; slow: number; fastMax: Value; slowMin: Value;
  rows: { service: string; operation: string; kind: StageRow["kind"]; fast: Value; slow: Value; more: Value }[];
}
export interface Traces {
  total: number; matching: number;
  /** Found, and not told one by one: the shortest. */
  leftOut: number;
  sample: TraceSample;
  services: string[]; operations: string[];
  exemplars: { name: "fastest" | "typical" | "slowest"; id: string; duration: Value }[];
  /** The longest first. */
  traces: TraceRow[];
  parts: TracePart[];
  /** How many traces `parts` and `stages` are of. */
  averaged: number;
  /** Slow ones and failures are more than their share among those. */
  isBiased: boolean;
  /** Empty where nothing went through a queue. */
  stages: StageRow[];
  mean: Value | null;
  difference: SpeedDifference | null;
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/traces/{trace}
/** Times are milliseconds from the trace's start. */
export interface TracePage {
  id: string; t: number; at: string; kept: TraceRow["kept"];
  service: string; operation: string; duration: Value; answer: Value;
  spans: number; errors: number; services: string[];
  rows: SpanRow[];
  leftOut: number;
  /** Rows without their attributes. */
  bare: number;
  path: { row: number | null; kind: StageRow["kind"]; part: PartName; start: number; end: number }[];
  /** The whole time in parts; long waits are drawn shorter. */
  stretches: { start: number; end: number; duration: Value; isWait: boolean }[];
  parts: TracePart[];
  repeats: { row: number | null; statement: string; parent: string; count: number; total: Value; mean: Value; share: Value; without: Value }[];
  flaws: { name: "orphans" | "circles" | "twins" | "cut" | "moved" | "adopted"; count: number }[];
}
export interface SpanRow {
  /** `wait`: a message in its queue, or nobody who was seen; `fold`: the rows below it are alike. */
  kind: "span" | "wait" | "fold";
  id: string; parent: number | null; depth: number;
  service: string; operation: string; side: string; peer: string; part: PartName;
  start: number; length: number; duration: Value; own: Value; onPath: Value;
  isError: boolean; count: number; isRepeated: boolean;
  statement: string | null;
  attributes: Fact[];
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/services
export interface Services {
  window: { from: number; to: number; isWhole: boolean };
  sample: TraceSample;
  places: ServicesPlace[];
  edges: ServicesEdge[];
  leftOut: number;
  operations: { service: string; operation: string; side: string; count: Value; rate: Value; failed: Value; failedShare: Value; p50: Value; p95: Value; p99: Value; max: Value }[];
  operationsLeftOut: number;
}
export interface ServicesPlace { key: string; kind: "outside" | "service" | "queue" | "database" | "external"; name: string; rate: Value; failed: Value; p50: Value; p95: Value }
export interface ServicesEdge { from: string; to: string; count: Value; rate: Value; failed: Value; p50: Value; p95: Value }

// ───────────────────────────────────────────────────────────── GET /api/v1/compare?a=ID[,ID]&b=ID[,ID]&margin=&lang=
export interface ComparePage {
  /** docs/format/comparison.schema.json, exactly what `plimsoll compare --format json` writes. */
  comparison: Comparison;
  /** One per comparison.rows: as `plimsoll compare` prints them. */
  texts: { series: string; figure: string; a: string; b: string; /** with its interval: `×1.083 (1.021 … 1.143)` */ change: string; verdict: string }[];
  /** Sentences in the language asked for. */
  sentence: string;
  findings: string[];
}
export interface Comparison {
  schemaVersion: string;
  verdict: "regressed" | "improved" | "equivalent" | "inconclusive";
  sentence: string;
  options: { confidence: number; margin: number; marginMs: number; sloMs: number | null; despiteUnequalLoad: boolean; despiteNoSteadyPart: boolean };
  a: ComparedRun[]; b: ComparedRun[];
  findings: { kind: string; refuses: boolean; sentence: string }[];
  withinRunOnly: boolean;
  rows: ComparisonRow[];
  endpointsLeftOut: number;
}
export interface ComparedRun { id: string; name: string; script: string; started: string; targetVersion: string; seconds: number; steady: { from: number; to: number } | null }
export interface ComparisonRow {
  series: string; figure: string; unit: "ms" | "share" | "per_second";
  a: number | null; b: number | null;
  ratio: number | null; ratioInterval: { lower: number | null; upper: number | null } | null;
  difference: number | null; differenceInterval: { lower: number | null; upper: number | null } | null;
  qValue: number | null;
  verdict: "improved" | "regressed" | "equivalent" | "inconclusive" | "not_available";
  why: string | null; moreMinutes: number | null; moreRuns: number | null;
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/evidence?from=&to=
/** What the servers did in the window: lanes, tables and sentences are of the same points, so that no two of them differ. */
export interface Evidence {
  start: string; end: string;
  sources: EvidenceSource[];
  lanes: Lane[]; lanesBeyond: number;
  happenings: { t: number; source: string; subject: string; text: string }[]; happeningsBeyond: number;
  /** Read from the lanes; `lane` is the key of the one that it is from. */
  story: { t: number; to: number | null; clock: string; text: string; lane: string | null }[];
  /** Work through queues, from submission to answer: the means of the parts add up to `sum`. */
  ways: WayRow[];
  queues: QueueRow[];
  /** Of the whole run, whatever the window; so are tasks, configuration and warnings. */
  statements: StatementRow[];
  waits: { source: string; kind: string; event: string; mean: Value; peak: Value; share: Value }[];
  tasks: { source: string; task: string; count: Value; min: Value; avg: Value; p95: Value; max: Value }[];
  profiles: Profile[];
  configuration: EvidenceSubject[]; warnings: EvidenceSubject[];
  rowsBeyond: number;
  /** What the run's file had no room for. */
  lost: number;
}
export interface EvidenceSource {
  name: string; kind: string; address: string;
  health: "ok" | "gaps" | "silent";
  answers: number | null; failures: number | null; trouble: string | null;
  points: number; first: number | null; last: number | null;
  gaps: LaneGap[]; facts: Fact[];
}
export interface LaneGap { from: number; to: number; reason: string }
/** Series of one source in one unit. Each has its own times: a null breaks its line. */
export interface Lane {
  key: string;
  group: "queues" | "workers" | "database" | "cache" | "proxy" | "runtime" | "nodes" | "host" | "other";
  title: string; signals: string[]; isSummed: boolean;
  scale: "default" | "share" | "time" | "seconds" | "data" | "data_per_second" | "per_second";
  unit: string; isStepped: boolean; namesPeaks: boolean;
  source: string; stepMs: number; queries: string[]; queriesBeyond: number;
  series: LaneSeries[]; seriesBeyond: number;
  limits: { value: number; text: string }[];
  gaps: LaneGap[];
}
export interface LaneSeries {
  label: string; labels: Fact[];
  t: number[]; values: (number | null)[];
  peak: { t: number; value: Value };
  start: Value; end: Value; limit: Value | null;
}
export interface WayRow {
  service: string; operation: string; isTask: boolean; isBiased: boolean; traces: number;
  mean: Value; p95: Value; parts: StageRow[]; sum: Value; sumOff: Value;
  /** As whoever waited measured it, of all tasks. */
  measured: { count: number; mean: Value; off: Value } | null;
  laws: QueueLaw[];
}
/** By traces, and by Little's law: messages ÷ rate. */
export interface QueueLaw {
  queue: string; rate: Value; ready: Value; unacked: Value;
  wait: Value; waitByLaw: Value; waitOff: Value;
  stay: Value; stayByLaw: Value; stayOff: Value;
}
export interface QueueRow {
  /** Who told, whose numbers are taken first. */
  sources: string[]; queue: string;
  start: Value; peak: Value; peakT: number | null; peakClock: string; end: Value; unackedPeak: Value;
  consumersMin: Value; consumersMax: Value; consumersSteady: Value; prefetch: Value; utilisation: Value;
}
export interface StatementRow {
  source: string; text: string; calls: Value; total: Value; mean: Value; share: Value; blocksHit: Value; blocksRead: Value; facts: Fact[];
}
/** What a program did at some time. Frames are shares of the whole width, those that each calls behind it. */
export interface Profile {
  source: string; subject: string; t: number; clock: string; length: Value; total: Value; query: string;
  frames: { depth: number; from: number; width: number; name: string; text: string }[];
  framesLeftOut: number;
  functions: { name: string; own: Value; share: Value }[];
}
export interface EvidenceSubject { t: number; source: string; subject: string; facts: Fact[] }

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/capacity
export interface CapacityPage {
  /** Null for a run that is a level of none. */
  study: CapacityStudy | null;
  /** Finds out what the study left open, or makes one of the run's script; empty where nothing is open. */
  command: string;
}
/** docs/format/capacity.schema.json, exactly what `plimsoll capacity --json` and `plimsoll sweep --json` write. */
export interface CapacityStudy {
  schemaVersion: string; name: string; kind: "sweep" | "capacity" | "table"; script: string; loadTime: Value;
  /** One for each variant of the target. */
  parts: Capacity[];
}
export interface Bounds { lower: number | null; upper: number | null }
export interface Capacity {
  /** Empty where there is one. */
  variant: string;
  unit: "vus" | "per_second";
  verdict: "confirmed" | "found" | "broke" | "above_all" | "below_all" | "unknown";
  sentence: string; confirmed: string; plan: string;
  objectives: { text: string; selector: string; statistic: string; limit: Value; isTime: boolean; line: CapacityLine | null }[];
  /** The place of the objective that is broken first. */
  binding: number | null;
  line: CapacityLine | null;
  recommended: { load: Value; vus: Value; throughput: Value; requests: Value; headRoom: number } | null;
  /** `cycle`: milliseconds; load ÷ it is the no-waiting line of a closed loop. */
  ceiling: { throughput: Value; interval: Bounds; plateau: Bounds; cycle: number | null } | null;
  knee: Bounds | null;
  knees: { method: string; load: Value; interval: Bounds | null; isChosen: boolean }[];
  demands: { resource: string; perWork: Value; interval: Bounds; idle: Value; limit: Value; ceiling: Value; ceilingInterval: Bounds | null; levels: number; fit: number; used: Value }[];
  end: { resource: string; ceiling: Value; interval: Bounds; used: Value } | null;
  /** The lowest load first. */
  levels: CapacityLevel[];
  captions: { throughput: string; time: string; knee: string };
  missing: { kind: string; sentence: string }[];
}
export interface CapacityLine { load: Value; interval: Bounds; confidence: number; place: "inside" | "above_all" | "below_all"; method: string; throughput: Value }
export interface CapacityLevel {
  /** Empty for a row of a table. */
  run: string;
  name: string; purpose: string;
  load: Value; vus: Value; throughput: Value; requests: Value; time: Value; failed: Value; gain: Value; power: Value; measured: Value;
  grade: Grade | null; decides: boolean;
  /** In the order of the objectives. */
  objectives: { value: Value; isKept: boolean | null; holds: number | null; against: Value }[];
  verdict: "baseline" | "normal" | "knee" | "past_knee" | "saturated" | "slo_exceeded" | "collapse" | "unknown";
  words: string; remark: string;
}

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/diagnosis
/** docs/format/diagnosis.schema.json, exactly what `plimsoll diagnose --json` writes. */
export interface Diagnosis {
  schemaVersion: string;
  /** `limited`: the first finding limits. */
  outcome: "limited" | "no_server_bottleneck" | "generator" | "cannot_tell";
  headline: string;
  /** By ascending load. */
  runs: { id: string; grade: Grade; throughput: DiagnosisNumber; mean: DiagnosisNumber | null }[];
  /** Whose the time of requests was. */
  attribution: DiagnosisTime | null;
  timeUses: DiagnosisTime[];
  /** What explains most first. */
  findings: DiagnosisFinding[];
  findingsBeyond: number;
  /** The cheapest first; `finding` counts from 1. */
  remedies: { cost: CostClass; text: string; finding: number }[];
  ruledOut: DiagnosisRuledOut[];
  missing: DiagnosisMissing[];
  caveats: string[];
}
export type CostClass = "logic" | "setting" | "cache" | "resource" | "architecture";
export interface DiagnosisNumber {
  name: string; value: number | null; unit: string; text: string;
  interval: { low: number; high: number; text: string } | null;
  /** What it is of, or against; may be empty. */
  note: string;
}
/** The parts add up to the mean. */
export interface DiagnosisTime {
  of: string; count: number; mean: DiagnosisNumber; measured: DiagnosisNumber | null; waits: DiagnosisNumber; waitsShare: number;
  parts: { name: string; does: "waits" | "works" | "travels" | "unseen"; mean: DiagnosisNumber; share: number; low: DiagnosisNumber | null }[];
  ways: { method: "traces" | "little" | "logs"; from: string; waits: DiagnosisNumber | null; works: DiagnosisNumber | null; rest: DiagnosisNumber | null; sum: DiagnosisNumber; apart: number | null }[];
  disagreement: number | null;
  caveats: string[];
}
export interface DiagnosisFinding {
  detector: string; label: string; place: string; title: string; summary: string; claim: string;
  role: "limits" | "contributes" | "outcome";
  strength: "arithmetic" | "limit" | "statistics" | "pattern";
  explains: number | null;
  numbers: DiagnosisNumber[];
  demand: { used: string; through: string; x: number[]; y: number[]; slope: number; slopeLow: number; slopeHigh: number; intercept: number; limit: number | null; caption: string } | null;
  queries: { source: string; signal: string; text: string; run: string; from: string; to: string; tFrom: number; tTo: number; stepMs: number; points: number }[];
  exemplars: { kind: "trace" | "statement" | "line"; run: string; trace: string; text: string }[];
  ruledOut: DiagnosisRuledOut[];
  flags: string[]; caveats: string[];
  remedy: string; cost: CostClass;
  prediction: { change: string; now: DiagnosisNumber | null; then: DiagnosisNumber | null; nextLimit: string; wrongIf: string; command: string } | null;
}
export interface DiagnosisRuledOut { what: string; why: string; number: string }
export interface DiagnosisMissing { what: string; tells: string; connect: string }

// ───────────────────────────────────────────────────────────── GET /api/v1/history?script=PATH|ID&limit=
/** docs/format/history.schema.json, exactly what `plimsoll history --format json` writes. */
export interface History {
  schemaVersion: string;
  runs: { id: string; started: string; targetVersion: string; figures: { figure: "p50" | "p95" | "p99" | "error_share" | "requests_per_second"; value: number | null }[] }[];
  runsLeftOut: number;
  changes: { figure: string; since: string; direction: "improved" | "regressed"; before: number; after: number; pValue: number }[];
}

// ───────────────────────────────────────────────────────────── writes: need header `X-Plimsoll: 1` (CSRF), JSON body, same origin
/** PUT /api/v1/runs/{id}/note       body {"note": string ≤ 4000}  → NoteAnswer */
/** PUT /api/v1/runs/{id}/baseline   body {"isBaseline": boolean} → NoteAnswer (the baseline of its script; unpins another) */
/** POST /api/v1/runs/{id}/stop      empty body → 202 {}; 409 if this process does not run it. Graceful as k6's stop through the REST API. */
/** POST /api/v1/session             with `Authorization: Bearer TOKEN` → 204 and a cookie. See README, token. */
export interface NoteAnswer { note: string; isBaseline: boolean }

// ───────────────────────────────────────────────────────────── GET /api/v1/runs/{id}/events  (text/event-stream)
/**
 * 204 if the run is not live in this process (EventSource then stops by itself; poll GET /runs/{id} each 5 s while its state is `live`).
 * Each event has an id; reconnecting with Last-Event-ID goes on after it; if that is too long ago the first event is `reset`:
 * fetch everything anew. All listeners get the same bytes; there is one `tick` per second. A comment line each 15 s keeps it open.
 */
export type LiveEvent =
  | { event: "tick"; data: Tick }
  | { event: "thresholds"; data: { thresholds: LiveThreshold[] } }
  | { event: "log"; data: LogLine }
  | { event: "ended"; data: { reopen: string } }
  | { event: "reset"; data: { why: string } };
export interface Tick {
  state: LiveState;
  /** The window that is complete now, in the shape of Series with one point (`t.length === 1`, step 1); null before the first. Append it. */
  point: Series | null;
  /** So far; replaces RunPage.headline. */
  headline: Headline;
  /** The most frequent so far, at most 20. */
  errors: { code: number; message: string; count: number; lastT: number }[];
  errorsTotal: number;
}
export interface LiveState {
  phase: "initializing" | "setup" | "running" | "teardown" | "ended";
  isPaused: boolean; isStopping: boolean;
  elapsedMs: number;
  /** By plan; null where nobody knows. */
  plannedMs: number | null;
  /** VUs ready / planned while initializing. */
  vus: number; vusMax: number;
  /** `6m42s`, as in the terminal's progress. */
  text: string;
}
export type LiveThreshold = Thresholds["thresholds"][number]; // with empty t, values, oks
