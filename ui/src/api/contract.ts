// Generated from docs/format/page.openapi.json by `npm run contract`; do not edit.
//
// Answers of the API that the page reads.
//
// - Keys are camelCase. Times `t` are seconds from the run's first window and may have a fraction; keys that end in `Ms` are milliseconds; wall-clock times are RFC 3339 in UTC. Shares are of 1, durations are in milliseconds, data is in bytes.
// - `null` means that there is no value; a key beside it gives the reason.
// - Strings from scripts and servers are untrusted. Show them as text only.
// - `lang=en|ko` (default `en`) changes sentences, never keys or numbers.
// - `from` and `to` (whole seconds, `to` exclusive) restrict an answer about a run to these windows.
// - Errors have a status of 4xx or 5xx and the shape `ApiError`. Answers to GET have an ETag; `If-None-Match` returns 304.
// - Requests that change something need the header `X-Plimsoll: 1`, a JSON body and the same origin.
// - Events have an id. A client that reconnects with `Last-Event-ID` continues after it; the event `reset` means that the client has to fetch everything again.


/** Server of the page: all runs, the live page of one run, or an exported report. */
export type Mode = 'serve' | 'run' | 'report';

/** Activity during a part of the time: queueing, service, network, or not attributed. */
export type Activity = 'waits' | 'works' | 'travels' | 'unseen';

/** Place of an agent in a run. */
export type AgentState = 'joining' | 'running' | 'suspect' | 'ended' | 'lost';

/** Severity of an audit finding. */
export type Severity = 'note' | 'warning' | 'error';

/** Kind of reasoning that supports a finding. */
export type Strength = 'arithmetic' | 'limit' | 'statistics' | 'pattern';

/** Grade of a measurement: whether its numbers can be trusted. */
export type Grade = 'valid' | 'unmeasured' | 'degraded' | 'invalid';

/** Verdict of one load step. */
export type LevelVerdict = 'baseline' | 'normal' | 'knee' | 'past_knee' | 'saturated' | 'slo_exceeded' | 'collapse' | 'unknown';

/** Position of the maximum load relative to the measured steps. */
export type LinePlace = 'inside' | 'above_all' | 'below_all';

/** Unit of offered load. */
export type LoadUnit = 'vus' | 'per_second';

/** Outcome of a capacity study. */
export type CapacityVerdict = 'confirmed' | 'found' | 'broke' | 'above_all' | 'below_all' | 'unknown';

/** Kind of a capacity study: loads from the command line, loads from a search, or rows of a table. */
export type StudyKind = 'sweep' | 'capacity' | 'table';

/** Result of one validity check. */
export type CheckStatus = 'ok' | 'warn' | 'fail' | 'unknown';

/** Unit of a metric's values: `time` is milliseconds, `data` is bytes. */
export type Contains = 'default' | 'time' | 'data';

/** Type of a metric. */
export type MetricKind = 'counter' | 'gauge' | 'rate' | 'trend';

/** Why a point has no value, or only a bound. */
export type NoteKind = 'no_samples' | 'few_samples' | 'failed' | 'at_least' | 'unplanned' | 'widened' | 'partial';

/** Work that figures of server evidence are per. */
export type WorkUnit = 'request' | 'task';

/** Figure of server evidence. */
export type EvidenceFigure = 'cpu_time' | 'queries' | 'traced_queries' | 'spans' | 'pool_in_use' | 'pool_wait';

/** Unit of a figure of server evidence. */
export type EvidenceUnit = 'ms' | 'count';

/** Unit of a compared figure: `share` is of 1. */
export type ComparedUnit = 'ms' | 'share' | 'per_second';

/** Verdict of one row of a comparison. */
export type RowVerdict = 'improved' | 'regressed' | 'equivalent' | 'inconclusive' | 'not_available';

/** Verdict of a whole comparison. */
export type ComparisonVerdict = 'regressed' | 'improved' | 'equivalent' | 'inconclusive';

/** Cost class of a remedy, the cheapest first. */
export type CostClass = 'logic' | 'setting' | 'cache' | 'resource' | 'architecture';

/** Kind of an example. */
export type DiagnosisExemplarKind = 'trace' | 'statement' | 'line';

/** Role of a finding. */
export type Role = 'limits' | 'contributes' | 'outcome';

/** Method of measuring where the time goes. */
export type TimeMethod = 'traces' | 'little' | 'logs';

/** Outcome of a diagnosis. */
export type Outcome = 'limited' | 'no_server_bottleneck' | 'generator' | 'cannot_tell';

/** Direction of a change. */
export type Direction = 'improved' | 'regressed';

/** Source of a trend's statistics: every value, or a histogram. */
export type Precision = 'exact' | 'histogram';

/** Reason for a dropped iteration. */
export type DropCause = 'vus_exhausted' | 'vu_starting' | 'time_up' | 'agent_lost';

/** Reason for keeping an example request: `bucket` is the first in its power of two of milliseconds. */
export type ExemplarKind = 'slowest' | 'failed' | 'bucket';

/** Part of the time of a request or trace. */
export type PartName = 'network' | 'target' | 'database' | 'external' | 'queue' | 'unseen' | 'poll' | 'connecting';

/** Group of lanes. */
export type LaneGroup = 'queues' | 'workers' | 'database' | 'cache' | 'proxy' | 'runtime' | 'nodes' | 'host' | 'other';

/** Scale of a lane's axis. */
export type LaneScale = 'default' | 'share' | 'time' | 'seconds' | 'data' | 'data_per_second' | 'per_second';

/** Health of a metrics source. */
export type Health = 'ok' | 'gaps' | 'silent';

/** Stage of queued work: `submit` is the submission, `poll` the time between completion and the next poll. */
export type StageKind = 'queue' | 'work' | 'between' | 'submit' | 'poll';

/** Verdict of a run against its thresholds. */
export type Verdict = 'pass' | 'fail' | 'inconclusive';

/** Figure of a run's history. */
export type HistoryFigureName = 'p50' | 'p95' | 'p99' | 'error_share' | 'requests_per_second';

/** Whether a live run keeps its planned pace. */
export type LivePaceKind = 'saturated' | 'losing' | 'keeping' | 'closed';

/** Phase of a live run. */
export type LivePhase = 'initializing' | 'setup' | 'running' | 'teardown' | 'ended';

/** Level of a log line. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

/** Kind of a node of the service map: `outside` is the sender of the requests. */
export type MapNodeKind = 'outside' | 'service' | 'queue' | 'database' | 'external';

/** Level of a row in the request tree. */
export type NodeKind = 'scenario' | 'group' | 'request' | 'total';

/** OpenTelemetry kind of a span. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Phase of a request. `lookingUp` is part of `blocked`. */
export type PhaseName = 'blocked' | 'lookingUp' | 'connecting' | 'tls' | 'sending' | 'waiting' | 'receiving';

/** State of a run's record: `partial` has no end on record. */
export type State = 'complete' | 'partial' | 'live';

/** A block of text. */
export type ReportBlock =
  | {
      kind: 'heading';
      /** Its text. */
      text: ReportSpan[];
    }
  | {
      kind: 'paragraph';
      /** Its text. */
      text: ReportSpan[];
    }
  | {
      /** The text of each item. */
      items: ReportSpan[][];
      kind: 'list';
    }
  | {
      /** Its text. */
      blocks: ReportBlock[];
      kind: 'remark';
    }
  | {
      kind: 'lines';
      /** The lines, separated by line breaks. */
      lines: string;
    }
  | {
      /** The titles of its columns. */
      columns: ReportColumn[];
      kind: 'table';
      /** The cells of each row, one for each column. */
      rows: ReportSpan[][][];
    };

/** Style of a piece of text in a report. */
export type SpanStyle = 'plain' | 'code' | 'strong' | 'emphasis';

/** Status of a run in lists. */
export type Status = 'live' | 'passed' | 'failed' | 'partial' | 'imported';

/** Row of a trace: `wait` is queueing or time without a span, `fold` stands for the similar rows below it. */
export type SpanRowKind = 'span' | 'wait' | 'fold';

/** Trace that represents others: `typical` is the median. */
export type TraceExemplarName = 'fastest' | 'typical' | 'slowest';

/** Defect of a trace: `circles` are parent cycles, `twins` are duplicate span IDs. */
export type TraceFlawName = 'orphans' | 'circles' | 'twins' | 'cut' | 'moved' | 'adopted';

/** Reason for keeping a trace. */
export type TraceKept = 'sample' | 'error' | 'slowest' | 'bucket' | 'found';


/** The version, the scope and the rights of the page. */
export interface About {
  /** Whether notes, baselines and stopping are possible. */
  canWrite: boolean;
  /** `serve`, `run` (the live page of a run) or `report` (a file). */
  mode: Mode;
  /** Where runs are kept, in words. */
  place: string;
  /** The run that this process runs, or that the report is of. */
  run: string | null;
  /** The version of Plimsoll. */
  version: string;
}

/** Why there is no answer. */
export interface ApiError {
  /** The error. */
  error: ApiErrorDetail;
}

/** An error. */
export interface ApiErrorDetail {
  /** It in a sentence. */
  detail: string;
  /** The HTTP status. */
  status: number;
  /** It in a few words. */
  title: string;
}

/** Findings of a rule that are only counted. */
export interface AuditBeyond {
  /** How many there are. */
  count: number;
  /** The rule's name. */
  rule: string;
}

/** A rule and its input. */
export interface AuditChecked {
  /** The number of facts that the rule looked at; with 0 it could find nothing. */
  facts: number;
  /** The rule's name. */
  rule: string;
}

/** Figures derived by a law. */
export interface AuditDerived {
  /** The assumptions of the law. */
  caveats: string[];
  /** The figures, derived ones last. */
  figures: AuditFigure[];
  /** The law's name; stable. */
  law: string;
  /** Where its figures come from. */
  place: string;
  /** One sentence. */
  says: string;
}

/** A figure. */
export interface AuditFigure {
  /** Its name. */
  name: string;
  /** The figure as people read it. */
  text: string;
  /** Its unit: `s`, `%`, `points`, `/s`, `/min`, `cores`, `B`, `VUs`; empty for plain numbers. */
  unit: string;
  /** The number; null for what is none. */
  value: number | null;
}

/** A claim, its figures, its impact and its remedy. */
export interface AuditFinding {
  /** Caveats of the claim. */
  caveats: string[];
  /** The claim. */
  claim: string;
  /** The figures. */
  evidence: AuditFigure[];
  /** The impact. */
  implies: string;
  /** The claim as the rule worded it, where `claim` is in another language; absent in English. */
  original?: string;
  /** Where it was found. */
  place: string;
  /** The remedy. */
  remedy: string;
  /** The rule's name; stable. */
  rule: string;
  /** `error`, `warning`, `note`. */
  severity: Severity;
  /** The kind of reasoning: `arithmetic`, `limit`, `statistics`, `pattern`. */
  strength: Strength;
}

/** Everything that an audit says. */
export interface AuditReport {
  /** Findings that are not listed individually. */
  beyond: AuditBeyond[];
  /** Every rule, with what it looked at. */
  checked: AuditChecked[];
  /** Derived figures. */
  derived: AuditDerived[];
  /** The findings, the worst first. */
  findings: AuditFinding[];
  /** Input that was ignored. */
  remarks: string[];
  /** Remarks that are not listed individually. */
  remarksBeyond: number;
  /** The version of this shape: major, minor, patch. */
  schemaVersion: string;
  /** The audited runs and tables. */
  sources: string[];
}

/** The bounds of an interval. */
export interface Bounds {
  /** The lower one; null where nothing bounds it. */
  lower: number | null;
  /** The upper one; null where nothing bounds it. */
  upper: number | null;
}

/** The capacity of one variant of a target. */
export interface Capacity {
  /** The place of the objective that is broken first; null where none is. */
  binding: number | null;
  /** The captions of the charts. */
  captions: CapacityCaptions;
  /** The most that the system gets done. */
  ceiling: CapacityCeiling | null;
  /** How it was confirmed, in a sentence; empty where it was not. */
  confirmed: string;
  /** The demand of one unit of work on each resource, ordered by which saturates first. */
  demands: CapacityDemand[];
  /** The limiting resource; null where it is unknown. */
  end: CapacityEnd | null;
  /** Where waiting begins: the least and the largest of all methods; null where none found one. */
  knee: Bounds | null;
  /** The same by each method. */
  knees: CapacityKnee[];
  /** The levels, the lowest load first. */
  levels: CapacityLevel[];
  /** The highest load that keeps all objectives. */
  line: CapacityLine | null;
  /** Missing evidence and weaknesses of the answer. */
  missing: CapacityMissing[];
  /** The objectives (SLOs), in the order of the settings. */
  objectives: CapacityObjective[];
  /** The recommended load and the limit, in sentences; empty where they are unknown. */
  plan: string;
  /** The load to plan for. */
  recommended: CapacityRecommended | null;
  /** The answer in a sentence. */
  sentence: string;
  /** The unit of load: `vus`, `per_second`. */
  unit: LoadUnit;
  /** Its name among the variants: `REPLICAS=2`, a version; empty where there is one. */
  variant: string;
  /**
   * `confirmed` (the line was found and held), `found` (and not held), `broke` (its lower bound broke when it was held),
   * `above_all` (every level keeps all objectives), `below_all` (none does), `unknown`.
   */
  verdict: CapacityVerdict;
}

/** The captions of the charts. */
export interface CapacityCaptions {
  /** How the methods agree on the knee. */
  knee: string;
  /** Throughput against offered load. */
  throughput: string;
  /** Time against throughput. */
  time: string;
}

/** The most that a system gets done. */
export interface CapacityCeiling {
  /**
   * The time of an iteration without queueing, think time included, milliseconds: load ÷ this is the no-queueing bound of a
   * closed loop. Null for open ones.
   */
  cycle: number | null;
  /** Its interval. */
  interval: Bounds;
  /** The throughput of the levels on the plateau. */
  plateau: Bounds;
  /** Work per second. */
  throughput: ReportValue;
}

/** A number and its precision. */
export interface ReportValue {
  /**
   * Why the value is only a bound or missing: `timeout`, `cut`, `dropped`, `failed`, or `n/a: …`; absent for a number
   * that was measured.
   */
  censored?: string;
  /** As the terminal shows it. */
  text: string;
  /**
   * The number in the metric's unit (times in milliseconds, data in bytes, rates as shares of 1); with `censored`, a
   * lower bound of it. Null where there is none.
   */
  value: number | null;
}

/** The demand of one unit of work on a resource: usage = demand × throughput + idle usage. */
export interface CapacityDemand {
  /** The throughput at which it is used up. */
  ceiling: ReportValue;
  /** Its interval; null without a limit. */
  ceilingInterval: Bounds | null;
  /** The share of the variance that the line explains, from 0 to 1. */
  fit: number;
  /** Usage without work. */
  idle: ReportValue;
  /** Its interval. */
  interval: Bounds;
  /** How many levels were fitted. */
  levels: number;
  /** The most of it that may be used. */
  limit: ReportValue;
  /** Usage per piece of work. */
  perWork: ReportValue;
  /** The resource. */
  resource: string;
  /** Usage at the highest level as a share of the limit. */
  used: ReportValue;
}

/** The limit. */
export interface CapacityEnd {
  /** The throughput at which it is used up. */
  ceiling: ReportValue;
  /** Its interval. */
  interval: Bounds;
  /** The resource. */
  resource: string;
  /** How much of it was used at the highest level. */
  used: ReportValue;
}

/** Where waiting begins. */
export interface CapacityKnee {
  /** Its interval; null where the method has none. */
  interval: Bounds | null;
  /** Whether this is the one that counts. */
  isChosen: boolean;
  /** The load, or why there is none. */
  load: ReportValue;
  /** `asymptotic_bounds`, `power`, `kneedle`, `two_segments`, `usl`. */
  method: string;
}

/** One level of load. */
export interface CapacityLevel {
  /** Whether it decides anything. */
  decides: boolean;
  /** The share of requests that failed. */
  failed: ReportValue;
  /** The change of throughput from the level before, as a share; null for the first. */
  gain: ReportValue;
  /** `valid`, `unmeasured`, `degraded`, `invalid`; null for a table. */
  grade: Grade | null;
  /** The load. */
  load: ReportValue;
  /** How long it was looked at, milliseconds. */
  measured: ReportValue;
  /** Its name; empty without one. */
  name: string;
  /** The measured values of the objectives, in their order. */
  objectives: CapacityMeasured[];
  /** Throughput ÷ time. */
  power: ReportValue;
  /** `asked`, `ramp`, `narrow`, `hold`, `above`, `descent`. */
  purpose: string;
  /** A remark; empty where there is none. */
  remark: string;
  /** Requests per second. */
  requests: ReportValue;
  /** The run, by its id; empty for a row of a table. */
  run: string;
  /** Work per second. */
  throughput: ReportValue;
  /** The time that levels are compared by, milliseconds. */
  time: ReportValue;
  /** `baseline`, `normal`, `knee`, `past_knee`, `saturated`, `slo_exceeded`, `collapse`, `unknown`. */
  verdict: LevelVerdict;
  /** VUs that looped, or that were busy on average. */
  vus: ReportValue;
  /** The verdict in words. */
  words: string;
}

/** The measured value of an objective at a level. */
export interface CapacityMeasured {
  /** How far the statistic is from the limit, as a share of it; null where there is no such thing. */
  against: ReportValue;
  /** The probability that it holds; null where nothing was seen. */
  holds: number | null;
  /** Whether the objective holds, more likely than not; null where nothing was seen. */
  isKept: boolean | null;
  /** The statistic. */
  value: ReportValue;
}

/** The maximum load that meets the SLOs. */
export interface CapacityLine {
  /** The coverage of the interval; 0 where the bounds are only the neighbouring levels. */
  confidence: number;
  /** Its interval; an end that nothing bounds is null. */
  interval: Bounds;
  /** The load. */
  load: ReportValue;
  /** `isotonic`, `log_linear`. */
  method: string;
  /** `inside`, `above_all`, `below_all`: whether levels lie on both sides of it. */
  place: LinePlace;
  /** Work per second at the line. */
  throughput: ReportValue;
}

/** Missing evidence, or a weakness of the answer. */
export interface CapacityMissing {
  /**
   * `objectives`, `levels`, `load_above`, `load_below`, `valid_levels`, `full_weight`, `measurement`, `evidence`, `limits`,
   * `hold`, `repeats`, `monotony`, `agreement`, `budget`.
   */
  kind: string;
  /** It in a sentence, with what to do about it. */
  sentence: string;
}

/** Something that the system is held to. */
export interface CapacityObjective {
  /** Whether it is about a time, so that it belongs into a chart of times. */
  isTime: boolean;
  /** With what, in the unit of its metric. */
  limit: ReportValue;
  /** The maximum load that meets this one. */
  line: CapacityLine | null;
  /** The metric: `http_req_duration`. */
  selector: string;
  /** The statistic: `p(95)`. */
  statistic: string;
  /** It as it was written: `http_req_duration: p(95)<800`. */
  text: string;
}

/** The load to plan for. */
export interface CapacityRecommended {
  /** The part of the line's lower bound that it is. */
  headRoom: number;
  /** The load. */
  load: ReportValue;
  /** Requests per second. */
  requests: ReportValue;
  /** Work per second. */
  throughput: ReportValue;
  /** The same in VUs. */
  vus: ReportValue;
}

/** The page's answer about a run: the study that it is a level of. */
export interface CapacityPage {
  /** The command that finds out what the study left open, or makes one of the run's script; empty where nothing is open. */
  command: string;
  /** The study; null for a run that is a level of none. */
  study: CapacityStudy | null;
}

/** Levels of load that were measured in order to be looked at together. */
export interface CapacityStudy {
  /** `sweep` (loads chosen by the user), `capacity` (loads chosen by a search), `table`. */
  kind: StudyKind;
  /** The time under load that its levels took together, milliseconds. */
  loadTime: ReportValue;
  /** Its name; empty for a table. */
  name: string;
  /** One for each variant of the target, in the order in which they were measured first. */
  parts: Capacity[];
  /** The version of this shape: major, minor, patch. */
  schemaVersion: string;
  /** The script as it was named, or the table. */
  script: string;
}

/** A counter, gauge or rate over time. */
export interface ChosenSeries {
  /** `default`, `time` (milliseconds), `data` (bytes). */
  contains: Contains;
  /** The metric. */
  metric: string;
  /** The tags that were asked for. */
  tags: string;
  /** `counter`: per second. `gauge`: the last value. `rate`: a share of 1. */
  type: MetricKind;
  /** Its values. */
  values: Column;
}

/** Values, and why some are missing. */
export interface Column {
  /** Remarks on some of them. */
  notes: Note[];
  /** The values. */
  values: (number | null)[];
}

/** A remark on the points `from` to `to`, the latter excluded. */
export interface Note {
  /** The first. */
  from: number;
  /** The one after the last. */
  to: number;
  /** The remark. */
  why: NoteKind;
}

/** A comparison. */
export interface ComparePage {
  /** The document that `compare --format json` writes. */
  comparison: Comparison;
  /** The rows of its evidence in words. */
  evidence: EvidenceText[];
  /** Remarks to read before the rows, in the requested language. */
  findings: string[];
  /** The closing sentence in the language asked for. */
  sentence: string;
  /** All sides beyond the first, each compared with it; null for two sides. */
  several: ComparedSides | null;
  /** Its rows as `compare` prints them. */
  texts: ComparisonText[];
}

/** A comparison of two sides. */
export interface Comparison {
  /** The runs of the first side. */
  a: ComparedRun[];
  /** The runs of the second side. */
  b: ComparedRun[];
  /** Endpoints that were not compared, because there were too many; those with the fewest requests. */
  endpointsLeftOut: number;
  /** Evidence of the servers of both sides: facts without a verdict. */
  evidence: ComparedEvidence;
  /** Remarks to read before the rows, most serious first. */
  findings: ComparisonFinding[];
  /** The options. */
  options: ComparisonOptions;
  /**
   * How many seconds were compared with the same seconds of the other side's plan; null where the load does not vary by
   * plan.
   */
  pairedSeconds: number | null;
  /** One per series and figure, the most important series first. */
  rows: ComparisonRow[];
  /** The version of this shape: major, minor, patch. */
  schemaVersion: string;
  /** The answer in a sentence, in English. */
  sentence: string;
  /**
   * All rows in a word: `regressed` if any did, else `improved` if any did, else `inconclusive` unless all rows with a
   * verdict are `equivalent`.
   */
  verdict: ComparisonVerdict;
  /** Whether a side has too few runs for their variation to be known: intervals are of these runs alone. */
  withinRunOnly: boolean;
}

/** One run of a side. */
export interface ComparedRun {
  /** The run's id. */
  id: string;
  /** The name its owner gave it; empty without one. */
  name: string;
  /** The script as it was named. */
  script: string;
  /** How many seconds under load there are. */
  seconds: number;
  /** The start by the wall clock, RFC 3339, UTC. */
  started: string;
  /** The steady ones, or those that were compared where the load varies by plan; null where the run has none. */
  steady: SteadySeconds | null;
  /** The version of what was tested; empty where it is not known. */
  targetVersion: string;
}

/** Seconds of a run under load. */
export interface SteadySeconds {
  /** The first, counted from 0. */
  from: number;
  /** The one after the last. */
  to: number;
}

/** The evidence of servers on both sides, means of whole runs. */
export interface ComparedEvidence {
  /** Services, databases and pools that are left out, because there are too many. */
  leftOut: number;
  /** The work that figures are per: `request`, or `task` where all runs with evidence have tasks. */
  per: WorkUnit;
  /** One per service, database or pool and figure; empty where no side has evidence. */
  rows: ComparedEvidenceRow[];
}

/** A figure of a service, database or connection pool on both sides. */
export interface ComparedEvidenceRow {
  /** The first side's; null where its evidence does not show it. */
  a: number | null;
  /** The second side's. */
  b: number | null;
  /**
   * Per unit of work: `cpu_time`, `queries` that the database counted, `traced_queries` (database calls in traces of the
   * service), `spans`, `pool_wait`. Or `pool_in_use`, connections in use.
   */
  figure: EvidenceFigure;
  /** The limit of the first side's value, where there is one. */
  limitA: number | null;
  /** The limit of the second side's value. */
  limitB: number | null;
  /** b divided by a; null where there is no such thing. */
  ratio: number | null;
  /** The service, database or pool. */
  subject: string;
  /** `ms` or `count`. */
  unit: EvidenceUnit;
}

/** Something to know before reading the rows. */
export interface ComparisonFinding {
  /**
   * `no_run`, `unequal_rate`, `unequal_vus`, `unequal_plan`, `open_and_closed`, `untrusted`, `no_steady_part`,
   * `different_scripts`, `different_durations`, `load_unknown`, `closed_loop`, `target_versions`, `hosts`, `only_on`.
   */
  kind: string;
  /** Whether it kept latencies and rates from getting a verdict. */
  refuses: boolean;
  /** The same in an English sentence, with its figures. */
  sentence: string;
}

/** The options. */
export interface ComparisonOptions {
  /** The coverage of intervals. */
  confidence: number;
  /** Whether runs without a steady part were judged whole. */
  despiteNoSteadyPart: boolean;
  /** Whether latencies were judged although the load was unequal. */
  despiteUnequalLoad: boolean;
  /** The relative difference that does not matter. */
  margin: number;
  /** A difference of durations in milliseconds that does not matter. */
  marginMs: number;
  /** The limit of a good response, in milliseconds; null where every success is good. */
  sloMs: number | null;
}

/** A figure of both sides. */
export interface ComparisonRow {
  /** The first side's; null where there is none. */
  a: number | null;
  /** The second side's. */
  b: number | null;
  /** b less a; of shares only. */
  difference: number | null;
  /** The interval of the difference. */
  differenceInterval: Bounds | null;
  /** `mean`, `p95`, `error_share`, `goodput`, `throughput`. */
  figure: string;
  /**
   * How it was found: `interval`, by the interval; `ranks`, since no value of one side lies among those of the other;
   * `margin_ms`, by the margin in milliseconds.
   */
  method: string;
  /** About how many minutes more per side would decide an inconclusive row. */
  moreMinutes: number | null;
  /** About how many runs more per side would. */
  moreRuns: number | null;
  /** The share of false findings at which this row is one, over all rows; null without a verdict. */
  qValue: number | null;
  /** b divided by a; null where there is no such thing. */
  ratio: number | null;
  /** The interval of the ratio. */
  ratioInterval: Bounds | null;
  /** The endpoint (`GET /cart`) or metric; empty for what is about the whole run. */
  series: string;
  /** `ms`, `share` (of 1) or `per_second`. */
  unit: ComparedUnit;
  /** `improved`, `regressed`, `equivalent`, `inconclusive`, `not_available`. */
  verdict: RowVerdict;
  /**
   * Why there is no verdict: `no_steady_part`, `too_short`, `unequal_load`, `unsupported`, `censored`, `below_margin`,
   * `no_values`; null where there is one.
   */
  why: string | null;
}

/** A figure of server evidence of both sides in words. */
export interface EvidenceText {
  /** The first side's. */
  a: string;
  /** The second side's. */
  b: string;
  /** The ratio, or the only side that has the figure. */
  change: string;
  /** The figure. */
  figure: string;
  /** The service, database or pool. */
  subject: string;
}

/** Several sides, each compared with the first. Verdicts hold over all of them. */
export interface ComparedSides {
  /** Sentences about all rows. */
  caveats: string[];
  /** Figures of server evidence; they have no verdicts. */
  evidence: SidesRow[];
  /** Remarks to read before the rows. */
  findings: SidesFinding[];
  /** The figures that are important for at least one side. */
  rows: SidesRow[];
  /** The sides beyond the first. */
  sides: ComparedSide[];
  /** All rows of all sides in a word. */
  verdict: ComparisonVerdict;
}

/** A figure of all sides. */
export interface SidesRow {
  /** The first side's value. */
  baseline: string;
  /** One per side beyond the first; null where it does not have the figure. */
  cells: (SidesCell | null)[];
  /** The figure. */
  figure: string;
  /** The series; of evidence the service, database or pool. */
  series: string;
}

/** A side's value, and its change from the first side. */
export interface SidesCell {
  /** The change, without its interval. */
  change: string;
  /** The value. */
  value: string;
  /** The verdict; null for evidence. */
  verdict: RowVerdict | null;
  /** The verdict in words. */
  verdictText: string;
}

/** A remark on the comparability of sides. */
export interface SidesFinding {
  /** Whether it rules verdicts out. */
  refuses: boolean;
  /** The remark in the requested language. */
  sentence: string;
  /** The letters of the sides that have it, as in `B, D: `; empty if all of them have it. */
  sides: string;
}

/** A side that is compared with the first. */
export interface ComparedSide {
  /** Its letter, from `B` on. */
  letter: string;
  /** Its runs. */
  runs: ComparedRun[];
  /** The answer about it in a sentence. */
  sentence: string;
  /** Its rows in a word. */
  verdict: ComparisonVerdict;
}

/** A row of a comparison in words. */
export interface ComparisonText {
  /** The first side's. */
  a: string;
  /** The second side's. */
  b: string;
  /** The change and its interval. */
  change: string;
  /** The figure. */
  figure: string;
  /** The series. */
  series: string;
  /** The verdict. */
  verdict: string;
}

/** Values by quantile. */
export interface Curve {
  /** From this place on values are lower bounds; null where none is. */
  atLeastFrom: number | null;
  /** The metric. */
  metric: string;
  /** Quantiles with at least ten samples beyond them. */
  q: number[];
  /** The values there; null among failures without a time. */
  values: (number | null)[];
}

/** Use of a resource against throughput, as it is drawn. */
export interface DiagnosisDemand {
  /** The caption of the line. */
  caption: string;
  /** Use where nothing goes through. */
  intercept: number;
  /** The limit; null where no source reported one. */
  limit: number | null;
  /** The slope: use per one of what goes through. */
  slope: number;
  /** The upper end. */
  slopeHigh: number;
  /** The lower end of its 95 % interval. */
  slopeLow: number;
  /** The throughput, with its unit: `requests/s`. */
  through: string;
  /** The used resource, with its unit: `CPU, cores`. */
  used: string;
  /** Throughput of each window. */
  x: number[];
  /** Use in each window. */
  y: number[];
}

/** One that shows it. */
export interface DiagnosisExemplar {
  /** `trace`, `statement`, `line`. */
  kind: DiagnosisExemplarKind;
  /** The run by its id; empty for what is of no single one. */
  run: string;
  /** It in words: a trace's duration, a statement, a line. */
  text: string;
  /** The number of a trace; empty for others. */
  trace: string;
}

/** A claim about what limits, with all that is needed to check it. */
export interface DiagnosisFinding {
  /** Caveats of the claim. */
  caveats: string[];
  /** One sentence that is true if the numbers are. */
  claim: string;
  /** The cost class of the remedy: `logic`, `setting`, `cache`, `resource`, `architecture`. */
  cost: CostClass;
  /** Use against throughput; null where no demand was fitted. */
  demand: DiagnosisDemand | null;
  /** The detector; stable. */
  detector: string;
  /** Up to three that show it. */
  exemplars: DiagnosisExemplar[];
  /** The share of the latency, or of its growth with load, that it explains, of 1; null where that cannot be said. */
  explains: number | null;
  /** Faults of the data that it rests on. */
  flags: string[];
  /** The kind of fault in the field's words: `connection pool too small`. */
  label: string;
  /** The numbers, in the order that the reasoning takes them. */
  numbers: DiagnosisNumber[];
  /** Its subject: a service, a queue, a pool, a statement. */
  place: string;
  /** The prediction for the remedy; null where there is none. */
  prediction: DiagnosisPrediction | null;
  /** The queries of its numbers. */
  queries: DiagnosisQuery[];
  /** The remedy. */
  remedy: string;
  /** `limits`, `contributes`, `outcome`. */
  role: Role;
  /** Rivals that were looked at for this claim. */
  ruledOut: DiagnosisRuledOut[];
  /** The kind of reasoning: `arithmetic`, `limit`, `statistics`, `pattern`. */
  strength: Strength;
  /** Its numbers in one line. */
  summary: string;
  /** A few words: `scan-worker CPU is at its limit`. */
  title: string;
}

/** A number with its name, unit and text. */
export interface DiagnosisNumber {
  /** Its interval; null where there is none. */
  interval: DiagnosisInterval | null;
  /** Its name. */
  name: string;
  /** Its reference: `limit, 4 pods`; empty where that is plain. */
  note: string;
  /** The number as people read it. */
  text: string;
  /** Its unit: `s`, `%`, `points`, `/s`, `/min`, `cores`, `B`, `VUs`; empty for plain numbers. */
  unit: string;
  /** The number; null for what is none. */
  value: number | null;
}

/** An interval of a number, in the number's unit. */
export interface DiagnosisInterval {
  /** Its upper end. */
  high: number;
  /** Its lower end. */
  low: number;
  /** As people read it: `[0.54 – 0.6]`. */
  text: string;
}

/** A prediction for a remedy: a claim that can fail. */
export interface DiagnosisPrediction {
  /** The change. */
  change: string;
  /** The command that tries it. */
  command: string;
  /** The next bottleneck. */
  nextLimit: string;
  /** The most that goes through now; null where it is not known. */
  now: DiagnosisNumber | null;
  /** The most that will, with its 90 % interval; without an interval at least so much. Null where no demand is known. */
  then: DiagnosisNumber | null;
  /** The observation that would refute it. */
  wrongIf: string;
}

/** A question to a source, to be asked again. */
export interface DiagnosisQuery {
  /** The first instant, RFC 3339, UTC. */
  from: string;
  /** Points that were used. */
  points: number;
  /** The run by its id. */
  run: string;
  /** The signal that it gave. */
  signal: string;
  /** The source by its name in the settings. */
  source: string;
  /** Milliseconds between points; zero where they come when something happens. */
  stepMs: number;
  /** The first instant, seconds from the run's first window. */
  tFrom: number;
  /** The last one. */
  tTo: number;
  /** The query: PromQL, SQL, a path. */
  text: string;
  /** The last one. */
  to: string;
}

/** A suspect that was ruled out. */
export interface DiagnosisRuledOut {
  /** The number that says so. */
  number: string;
  /** The suspect. */
  what: string;
  /** Why it is not it. */
  why: string;
}

/** Evidence that is not there. */
export interface DiagnosisMissing {
  /** How to connect it: a flag, or lines of a file, to be copied. */
  connect: string;
  /** The question that it would answer. */
  tells: string;
  /** The evidence. */
  what: string;
}

/** A part of the time. */
export interface DiagnosisPart {
  /** `waits` (hatched), `works` (solid), `travels`, `unseen`. */
  does: Activity;
  /** The same at low load; null where that was not measured. */
  low: DiagnosisNumber | null;
  /** The mean over all. */
  mean: DiagnosisNumber;
  /** Its name: a queue, a stage, `network`, `target`, `database`, `external`, `queue`, `unseen`. */
  name: string;
  /** The share of the whole, of 1. They add up to 1. */
  share: number;
}

/** Something to do. */
export interface DiagnosisRemedy {
  /** `logic`, `setting`, `cache`, `resource`, `architecture`. */
  cost: CostClass;
  /** The finding that it addresses, counted from 1. */
  finding: number;
  /** The remedy. */
  text: string;
}

/** Everything that a diagnosis says. */
export interface DiagnosisReport {
  /** The components that the time of requests was spent in, which add up to it; null without traces. */
  attribution: DiagnosisTime | null;
  /** Caveats that apply to the whole diagnosis. */
  caveats: string[];
  /** Findings that limit, contribute or are notable, by the share that they explain, in descending order. */
  findings: DiagnosisFinding[];
  /** Findings that are not listed individually. */
  findingsBeyond: number;
  /** The same in one sentence. */
  headline: string;
  /** Missing evidence and how to connect it, the most useful first. */
  missing: DiagnosisMissing[];
  /** `limited` (the first finding limits), `no_server_bottleneck`, `generator`, `cannot_tell`. */
  outcome: Outcome;
  /** Remedies, the cheapest first. */
  remedies: DiagnosisRemedy[];
  /** Suspects that were ruled out. */
  ruledOut: DiagnosisRuledOut[];
  /** The runs that were looked at, by ascending load. */
  runs: DiagnosisRun[];
  /** The version of this shape: major, minor, patch. */
  schemaVersion: string;
  /** Where requests and tasks spend their time. */
  timeUses: DiagnosisTime[];
}

/** Where a request or a task spends its time. The parts add up to the whole. */
export interface DiagnosisTime {
  /** Caveats. */
  caveats: string[];
  /** How many of them it is the mean of. */
  count: number;
  /** How far the ways disagree about waiting, as a share of the longest; null where there is but one. */
  disagreement: number | null;
  /** Their mean time. */
  mean: DiagnosisNumber;
  /** The time that the test itself measured; null where it did not. */
  measured: DiagnosisNumber | null;
  /** The operation or task. */
  of: string;
  /** The parts, in order of time. */
  parts: DiagnosisPart[];
  /** All parts that wait, together. */
  waits: DiagnosisNumber;
  /** The same as a share of 1. */
  waitsShare: number;
  /** The same by up to three ways; the first is that of the parts. */
  ways: DiagnosisWay[];
}

/** One way to know where the time goes. */
export interface DiagnosisWay {
  /** How far that is from what was measured, as a share of it; null where nothing was measured or the sum was made to fit. */
  apart: number | null;
  /** Its inputs: `289 waiting / 6.13/s`. */
  from: string;
  /** `traces`, `little`, `logs`. */
  method: TimeMethod;
  /** Everything else. */
  rest: DiagnosisNumber | null;
  /** The sum of its parts. */
  sum: DiagnosisNumber;
  /** Queueing; null where the method does not give it. */
  waits: DiagnosisNumber | null;
  /** Being worked on. */
  works: DiagnosisNumber | null;
}

/** A run that was looked at. */
export interface DiagnosisRun {
  /** `valid`, `unmeasured`, `degraded`, `invalid`. */
  grade: Grade;
  /** Its id. */
  id: string;
  /** The mean time of what was finished; null where nothing was. */
  mean: DiagnosisNumber | null;
  /** Completed requests or tasks per second. */
  throughput: DiagnosisNumber;
}

/** How the values of a trend are spread. */
export interface Distribution {
  /** `default`, `time` (milliseconds), `data` (bytes). */
  contains: Contains;
  /** Values by quantile: this metric's, and then that of the other way to count the time of requests. */
  curves: Curve[];
  /** The histogram over time. */
  heat: Heat;
  /** Measured values, by size. */
  histogram: Histogram;
  /** Quantiles that people name. */
  marks: QuantileMark[];
  /** The metric. */
  metric: string;
  /** Everything that was tried. */
  population: number;
  /** `exact` or `histogram`. */
  precision: Precision;
  /** The relative error that a histogram's quantiles have at most. */
  relativeErrorMax: number;
  /** The tags that were asked for. */
  tags: string;
  /** Requests with a time. */
  timed: number;
  /** Requests that failed without one. */
  untimed: number;
}

/** A histogram for each point of time. */
export interface Heat {
  /** As of [`Histogram`]. */
  bounds: number[];
  /** The largest count. */
  countMax: number;
  /** For each point, how many there are between the bounds. */
  counts: number[][];
  /** Seconds of a point. */
  step: number;
  /** The start of each point, seconds. */
  t: number[];
}
/**
 * Counts between bounds: `bounds[i] < x <= bounds[i + 1]`. Bounds grow by one factor; a first bound of 0 takes everything
 * below the second.
 */
export interface Histogram {
  /** One more than counts; none without values. */
  bounds: number[];
  /** How many. */
  counts: number[];
}

/** A quantile that people name. */
export interface QuantileMark {
  /** Whether at least ten samples are beyond it. */
  isSupported: boolean;
  /** `p50`, `max`, …. */
  label: string;
  /** How many samples it takes. */
  needs: number;
  /** As a share of 1. */
  q: number;
  /** The value; null without support. */
  value: ReportValue;
}

/** The run is over. */
export interface Ended {
  /** How to see it again. */
  reopen: string;
}

/** A distinct error. */
export interface ErrorRow {
  /** k6's error code; 0 for exceptions of the script. */
  code: number;
  /** How often. */
  count: number;
  /** The first one in full. */
  example: string;
  /** The first window that has it. */
  first: number;
  /** The last one. */
  last: number;
  /** The message. */
  message: string;
  /** How often in up to 60 equal parts of what is shown. */
  shape: number[];
  /** As a share of all errors. */
  share: ReportValue;
  /** The tags of the first one. */
  tags: ReportFact[];
}

/** A name and a value. */
export interface ReportFact {
  /** The name. */
  name: string;
  /** The value. */
  value: string;
}

/** Errors of one kind. */
export interface ErrorSeries {
  /** k6's error code; 0 for exceptions, and for all others. */
  code: number;
  /** The message, or `other`. */
  kind: string;
  /** How many. */
  total: number;
  /** Per second. */
  values: number[];
}

/** The errors. */
export interface Errors {
  /** Errors that are in no row, because there were too many distinct ones. */
  beyond: number;
  /** Distinct errors, the most frequent first. */
  errors: ErrorRow[];
  /** Single requests that failed, and the slowest. */
  exemplars: ReportExemplar[];
  /** How many requests. */
  requests: number;
  /** How many errors. */
  total: number;
}

/** A request that stands for others. */
export interface ReportExemplar {
  /** When it ended, milliseconds from the start of the run. */
  atMs: number;
  /** Its `http_req_duration`, milliseconds. */
  duration: ReportValue;
  /** The error; empty where there is none. */
  error: string;
  /** Whether that trace is in the run's file. */
  isTraceKept: boolean;
  /** `slowest`, `failed`, `bucket` (the first of its power of two milliseconds). */
  kind: ExemplarKind;
  /** The tag `method`. */
  method: string;
  /** Whose its time was, from connecting to the last byte; empty where no trace says so. */
  parts?: ReportExemplarPart[];
  /** The tag `status`. */
  status: string;
  /** The trace it belongs to, 32 hexadecimal digits. */
  traceId?: string;
  /** Its URL, or the tag `name`. */
  url: string;
}

/** A part of the time of a request. */
export interface ReportExemplarPart {
  /** How long it was. */
  duration: ReportValue;
  /** `network`, `target`, `database`, `external`, `queue`, `unseen`, `poll`, `connecting`. */
  name: PartName;
}

/** Server-side evidence of the requested time range. */
export interface Evidence {
  /** The configuration. */
  configuration: Subject[];
  /** When it ends. */
  end: string;
  /** Events, in order of time. */
  happenings: Happening[];
  /** Happenings that are left out, because there were too many. */
  happeningsBeyond: number;
  /** Numbers over time, in the order to show. */
  lanes: Lane[];
  /** Lanes that are left out, because there were too many. */
  lanesBeyond: number;
  /** Evidence that did not fit into the run's file. */
  lost: number;
  /** Profiles, each as a flame graph. */
  profiles: Profile[];
  /** The queues. */
  queues: QueueRow[];
  /** Rows of tables that are left out, because there were too many. */
  rowsBeyond: number;
  /** The sources. */
  sources: EvidenceSource[];
  /** When the part begins, RFC 3339, UTC. */
  start: string;
  /** Statements of databases, what took most of the time first. */
  statements: StatementRow[];
  /** Events as sentences, in order. */
  story: StoryLine[];
  /** Kinds of tasks. */
  tasks: TaskRow[];
  /** Activities and waits of database sessions, the most frequent first. */
  waits: WaitRow[];
  /** Warnings from metrics sources. */
  warnings: Subject[];
  /** The ways of work through queues, those of which most traces are first. */
  ways: WayRow[];
}

/** Facts about a subject. */
export interface Subject {
  /** The facts. */
  facts: ReportFact[];
  /** The source. */
  source: string;
  /** The subject. */
  subject: string;
  /** When, seconds. */
  t: number;
}

/** Something that happened once. */
export interface Happening {
  /** The source. */
  source: string;
  /** The subject. */
  subject: string;
  /** When, seconds. */
  t: number;
  /** The event. */
  text: string;
}

/** Series of one source in one unit, drawn above each other. */
export interface Lane {
  /** When nothing is known. */
  gaps: LaneGap[];
  /** `queues`, `workers`, `database`, `cache`, `proxy`, `runtime`, `nodes`, `host`, `other`. */
  group: LaneGroup;
  /** Whether a value holds until the next. */
  isStepped: boolean;
  /** Whether series of several labels are added up to those that are drawn. */
  isSummed: boolean;
  /** Its name in addresses: stays the same while the sources are the same. */
  key: string;
  /** The limit. */
  limits: LaneLimit[];
  /** Whether the highest points are to be named. */
  namesPeaks: boolean;
  /** The query. */
  queries: string[];
  /** Queries that are left out, because there were too many. */
  queriesBeyond: number;
  /**
   * The unit of axes: `default`, `share`, `time` (milliseconds), `seconds`, `data` (bytes), `data_per_second`,
   * `per_second`.
   */
  scale: LaneScale;
  /** The series, in the order of their labels. */
  series: LaneSeries[];
  /** Series that are left out, those with the lowest peaks. */
  seriesBeyond: number;
  /** The signals that are drawn. */
  signals: string[];
  /** The source. */
  source: string;
  /** Milliseconds between points; zero where they come when something happens. */
  stepMs: number;
  /** Its title. */
  title: string;
  /** The unit in UCUM, as the source has it. */
  unit: string;
}

/** A time of which nothing is known. */
export interface LaneGap {
  /** From when, seconds. */
  from: number;
  /** Why. */
  reason: string;
  /** Until when. */
  to: number;
}

/** A limit as a line. */
export interface LaneLimit {
  /** It in words. */
  text: string;
  /** Where. */
  value: number;
}

/** One series of a lane. */
export interface LaneSeries {
  /** The last one. */
  end: ReportValue;
  /** Its label among those of its lane. */
  label: string;
  /** All of its labels. */
  labels: ReportFact[];
  /** Its own limit; null where there is none. */
  limit: ReportValue | null;
  /** The highest point. */
  peak: Peak;
  /** The first value. */
  start: ReportValue;
  /** When, seconds, rising. */
  t: number[];
  /** The values: of many, the smallest and the largest of neighbours. Null where the line breaks. */
  values: (number | null)[];
}

/** The highest point of a series. */
export interface Peak {
  /** When, seconds: the first time that it was so high. */
  t: number;
  /** How high. */
  value: ReportValue;
}

/** A profile of a program, by call stack. */
export interface Profile {
  /** The same as a clock. */
  clock: string;
  /** The widest frames, those that each calls behind it. */
  frames: Frame[];
  /** Frames that are left out, because there were too many. */
  framesLeftOut: number;
  /** The functions that did most by themselves. */
  functions: FunctionRow[];
  /** How long it was. */
  length: ReportValue;
  /** The query. */
  query: string;
  /** The source. */
  source: string;
  /** The profile type: `cpu`. */
  subject: string;
  /** From when on, seconds. */
  t: number;
  /** How much was done. */
  total: ReportValue;
}

/** A call in a flame graph. */
export interface Frame {
  /** How many calls are around it. */
  depth: number;
  /** Where it begins, a share of the whole width. */
  from: number;
  /** The function. */
  name: string;
  /** Its total, with its callees. */
  text: string;
  /** How wide it is. */
  width: number;
}

/** A function of a profile. */
export interface FunctionRow {
  /** Its name. */
  name: string;
  /** Its own share, without callees. */
  own: ReportValue;
  /** The share of that. */
  share: ReportValue;
}

/** A queue. */
export interface QueueRow {
  /** The most. */
  consumersMax: ReportValue;
  /** The fewest consumers. */
  consumersMin: ReportValue;
  /** As many as there were for most of the time. */
  consumersSteady: ReportValue;
  /** How many were ready at last. */
  end: ReportValue;
  /** The most that were ready. */
  peak: ReportValue;
  /** When, as a clock. */
  peakClock: string;
  /** The time in seconds; null where it is unknown. */
  peakT: number | null;
  /** How many messages a consumer may take at once. */
  prefetch: ReportValue;
  /** Its name. */
  queue: string;
  /** The sources, the preferred one first. */
  sources: string[];
  /** Messages that were ready at first. Those that consumers had taken are apart. */
  start: ReportValue;
  /** The most that consumers had taken and not acknowledged. */
  unackedPeak: ReportValue;
  /** The share of time in which the queue could hand over at once, on average. */
  utilisation: ReportValue;
}

/** A source of evidence. */
export interface EvidenceSource {
  /** Its address; empty where it is unknown. */
  address: string;
  /** The number of its answers over the whole run; null where they were not counted. */
  answers: number | null;
  /** Further facts. */
  facts: ReportFact[];
  /** How often it did not. */
  failures: number | null;
  /** The first of them, seconds; null where there is none. */
  first: number | null;
  /** Its gaps. */
  gaps: LaneGap[];
  /** `ok`, `gaps` (data is missing), `silent` (no data in the requested time range). */
  health: Health;
  /** Its kind; empty where it is unknown. */
  kind: string;
  /** The last of them. */
  last: number | null;
  /** Its name in the settings. */
  name: string;
  /** The number of its points. */
  points: number;
  /** Why it failed last; null where its last answer was one. */
  trouble: string | null;
}

/** A statement of a database. */
export interface StatementRow {
  /** Blocks that were found in memory. */
  blocksHit: ReportValue;
  /** Blocks that were read. */
  blocksRead: ReportValue;
  /** How often it was called. */
  calls: ReportValue;
  /** Further facts. */
  facts: ReportFact[];
  /** How long one took, on average. */
  mean: ReportValue;
  /** The share of the time of all statements; of the listed ones, where the source has no total. */
  share: ReportValue;
  /** The source. */
  source: string;
  /** Its text, without its parameters. */
  text: string;
  /** How long all calls took. */
  total: ReportValue;
}

/** A sentence of what happened. */
export interface StoryLine {
  /** When, as a clock: `0:38–2:08`. */
  clock: string;
  /** The lane that it is read from; null where it is from none. */
  lane: string | null;
  /** When, seconds. */
  t: number;
  /** The value. */
  text: string;
  /** Until when; null where it is a moment. */
  to: number | null;
}

/** A kind of task. */
export interface TaskRow {
  /** The mean. */
  avg: ReportValue;
  /** How many. */
  count: ReportValue;
  /** The longest. */
  max: ReportValue;
  /** The shortest. */
  min: ReportValue;
  /** The 95th percentile. */
  p95: ReportValue;
  /** The source. */
  source: string;
  /** Its name. */
  task: string;
}

/** Activities and waits of sessions. */
export interface WaitRow {
  /** For what. */
  event: string;
  /** The kind of wait. */
  kind: string;
  /** How many sessions at a time, on average. */
  mean: ReportValue;
  /** The most at a time. */
  peak: ReportValue;
  /** Of all that were active. */
  share: ReportValue;
  /** The source. */
  source: string;
}

/** The way of work through queues, from its submission to its answer, in the part that is looked at. */
export interface WayRow {
  /** Whether its traces were kept for what is remarkable about them, and stand for no others. */
  isBiased: boolean;
  /** Whether it is a task of `plimsoll/flow`, so that its length is the time that the client waited. */
  isTask: boolean;
  /** Little's law on its queues. */
  laws: QueueLaw[];
  /** How long it took. */
  mean: ReportValue;
  /** The time of all such tasks as the client measured it; null where it did not. */
  measured: WayMeasured | null;
  /** The operation of the root. */
  operation: string;
  /** The 95th percentile. */
  p95: ReportValue;
  /** Its parts, in the order in which they begin on average. */
  parts: StageRow[];
  /** The service of the root. */
  service: string;
  /** The parts' means added up. */
  sum: ReportValue;
  /** How far that is from `mean`, as a share of it. */
  sumOff: ReportValue;
  /** How many traces it is the mean of. */
  traces: number;
}

/** A queue by its traces and by Little's law: messages ÷ rate = time. */
export interface QueueLaw {
  /** Its name. */
  queue: string;
  /** Messages per second that came through. */
  rate: ReportValue;
  /** Messages that were ready, on average. */
  ready: ReportValue;
  /** How long messages waited and were worked on, by traces. */
  stay: ReportValue;
  /** (`ready` + `unacked`) ÷ `rate`. */
  stayByLaw: ReportValue;
  /** How far the law is from the traces, as a share of these. */
  stayOff: ReportValue;
  /** Messages that consumers had taken and not acknowledged, on average. */
  unacked: ReportValue;
  /** The time from a message's publication to the start of its processing, by traces. */
  wait: ReportValue;
  /** `ready` ÷ `rate`. */
  waitByLaw: ReportValue;
  /** How far the law is from the traces, as a share of these. */
  waitOff: ReportValue;
}

/** The time of tasks, as the client measured it. */
export interface WayMeasured {
  /** How many were finished. */
  count: number;
  /** How long they took on average. */
  mean: ReportValue;
  /** How far the sum of the parts is from that, as a share of it. */
  off: ReportValue;
}

/** A stage of queued work. */
export interface StageRow {
  /** `queue`, `work`, `between`, `submit` (the client submits it), `poll` (it is done, and the client has yet to poll). */
  kind: StageKind;
  /** The mean over all traces; the means add up to that of the whole. */
  mean: ReportValue;
  /** The queue; without one, what is done. */
  name: string;
  /** The 95th percentile of those that have it. */
  p95: ReportValue;
  /** Of the whole. */
  share: ReportValue;
  /** Traces that have it. */
  traces: number;
}

/** One agent. */
export interface FleetAgent {
  /** Such iterations per second that it finished. */
  achieved: ReportValue;
  /** Cores that it may use. */
  cores: number;
  /** Share of a core that its busiest worker thread had at worst. */
  cpu: ReportValue;
  /** Doubts about its measurement, in English; empty where there are none. */
  doubts: string;
  /** Iterations that it dropped. */
  dropped: ReportValue;
  /** Iterations per second that were due on it. */
  due: ReportValue;
  /** From when on it started iterations, seconds; null before it has begun. */
  from: number | null;
  /** Delay of its start after the agreed instant. */
  late: ReportValue;
  /** 99th percentile of the lateness of its iterations. */
  lateness: ReportValue;
  /** From when on its load was missing, seconds; null where it was not. */
  lostFrom: number | null;
  /** Until when, seconds; null where no agent continued it. */
  lostTo: number | null;
  /** Its name. */
  name: string;
  /** The hub's clock minus its own. */
  offset: ReportValue;
  /** Requests per second. */
  requests: ReportValue;
  /** Its share of the test. */
  share: ReportValue;
  /** `joining`, `running`, `suspect`, `ended`, `lost`. */
  state: AgentState;
  /** Largest error of the offset. */
  uncertainty: ReportValue;
}

/** The agents that made the load. */
export interface FleetPage {
  /** The agents in the order in which they joined. */
  agents: FleetAgent[];
  /** Difference between the first and the last start. */
  skew: ReportValue;
  /** Largest error of an agent's clock. */
  uncertainty: ReportValue;
}

/** Readings of the generator and its machine. */
export interface Generator {
  /** The machine. */
  host: ReportFact[];
  /** The measurements that the validity depends on. */
  strip: StripItem[];
  /** Readings, one per window. */
  vitals: VitalSeries[];
  /** Worker threads. */
  workers: number;
}

/** A measurement that the validity depends on. */
export interface StripItem {
  /**
   * `dropped`, `generator_cpu`, `run_delay` (waiting for a core), `lateness`, `timer_lag`, `sockets`, `network`, `recorded`,
   * `steady`, `clock`, `throttled`, `steal`.
   */
  key: string;
  /** The limit; null where it was not exceeded. */
  limit: ReportValue | null;
  /** `ok`, `warn`, `fail`, `unknown`. */
  status: CheckStatus;
  /** The measured value; of those above the limit the worst. */
  value: ReportValue;
}

/** A thing that is read about the generator. */
export interface VitalSeries {
  /** The largest. */
  max: ReportValue;
  /** Its name. */
  name: string;
  /** When, seconds. */
  t: number[];
  /** `1` is a share; `ms`; `By`; empty is a number of things. */
  unit: string;
  /** The values. */
  values: number[];
  /** Of which worker thread. */
  worker: number | null;
}

/** Seconds of one grade, the last one among them. */
export interface GradeRange {
  /** The first. */
  from: number;
  /** Their grade. */
  grade: Grade;
  /** The last. */
  to: number;
}

/** The headline: the validity of the measurement, the verdict, and the key figures. */
export interface Headline {
  /** Key figures. */
  figures: RunFigures;
  /** The validity grade; null where it is not judged yet. */
  grade: Grade | null;
  /** Iterations. */
  iterations: IterationCounts;
  /** Why, in a sentence. */
  sentence: string;
  /** The measurements that decide the grade, the worst first. */
  strip: StripItem[];
  /** `pass`, `fail`, `inconclusive`. */
  verdict: Verdict;
}

/** Key figures of a run. */
export interface RunFigures {
  /** The share of failed requests. */
  failed: ReportValue;
  /** The median of `http_req_duration`, milliseconds. */
  p50: ReportValue;
  /** Its 95th percentile. */
  p95: ReportValue;
  /** Its 99th percentile. */
  p99: ReportValue;
  /** Requests per second. */
  rate: ReportValue;
  /** Requests. */
  requests: ReportValue;
}

/** Iterations of a run. */
export interface IterationCounts {
  /** Due and not started. */
  dropped: ReportValue;
  /** Due by plan: started and dropped. */
  due: ReportValue;
  /** Finished, in whichever way. */
  finished: ReportValue;
  /** Started. */
  started: ReportValue;
}

/** The runs of one script. */
export interface History {
  /** The changes, figure by figure, in order of the runs. */
  changes: HistoryChange[];
  /** The runs, the oldest first. */
  runs: HistoryRun[];
  /** Older runs that were not looked at. */
  runsLeftOut: number;
  /** The version of this shape: major, minor, patch. */
  schemaVersion: string;
}

/** A change between two runs that follow each other. */
export interface HistoryChange {
  /** The mean of the runs until the next change. */
  after: number;
  /** The mean of the runs since the change before. */
  before: number;
  /** `improved` or `regressed`. */
  direction: Direction;
  /** The figure. */
  figure: string;
  /** The probability of runs without a change looking so. */
  pValue: number;
  /** The id of the first run after the change. */
  since: string;
}

/** One run. */
export interface HistoryRun {
  /** Its figures. */
  figures: HistoryFigure[];
  /** The run's id. */
  id: string;
  /** The start by the wall clock, RFC 3339, UTC. */
  started: string;
  /** The version of what was tested; empty where it is not known. */
  targetVersion: string;
}

/** One figure of one run. */
export interface HistoryFigure {
  /** `p50`, `p95`, `p99`, `error_share`, `requests_per_second`. */
  figure: HistoryFigureName;
  /** In milliseconds, as a share of 1, or per second; null where there is none, as of a quantile among failures. */
  value: number | null;
}

/** A trend over time. */
export interface Latency {
  /** `default`, `time` (milliseconds), `data` (bytes). */
  contains: Contains;
  /** Samples. */
  count: number[];
  /** The largest values. */
  max: Column;
  /** Means. */
  mean: Column;
  /** The metric. */
  metric: string;
  /** Medians. */
  p50: Column;
  /** 95th percentiles. */
  p95: Column;
  /** 99th percentiles. */
  p99: Column;
  /** The tags that were asked for. */
  tags: string;
}

/** A threshold as a line. */
export interface LimitLine {
  /** The condition as written. */
  condition: string;
  /** Whether it held in the end. */
  ok: boolean;
  /** The statistic. */
  statistic: string;
  /** The limit as the terminal shows it. */
  text: string;
  /** The limit, in the metric's unit. */
  value: number;
}

/** An error so far. */
export interface LiveError {
  /** k6's error code. */
  code: number;
  /** How often. */
  count: number;
  /** The last window that has it. */
  lastT: number;
  /** The message. */
  message: string;
}

/** The pace of a live run's last seconds. */
export interface LivePace {
  /** Iterations per second that were due and not started. */
  dropped: ReportValue;
  /** Iterations finished per second. */
  finished: ReportValue;
  /**
   * `saturated`: iterations were due and not started. `losing`: few of them, less than one in a hundred. `keeping`: all were
   * started. `closed`: no rate is planned.
   */
  kind: LivePaceKind;
  /** Seconds that the pace covers. */
  seconds: number;
}

/** How a live run stands. */
export interface LiveState {
  /** Since the scenarios began, milliseconds. */
  elapsedMs: number;
  /** Whether it is held. */
  isPaused: boolean;
  /** Whether it was asked to stop. */
  isStopping: boolean;
  /** The pace of the last seconds; null before the scenarios begin. */
  pace: LivePace | null;
  /** `initializing`, `setup`, `running`, `teardown`, `ended`. */
  phase: LivePhase;
  /** The planned duration of the scenarios, in milliseconds; null where it is unknown. */
  plannedMs: number | null;
  /** The time since the scenarios began, as the terminal writes durations. */
  text: string;
  /** VUs at work. */
  vus: number;
  /** VUs that were made. */
  vusMax: number;
}

/** Thresholds as they stand, without their past. */
export interface LiveThresholds {
  /** In the order of the report. */
  thresholds: ThresholdOverTime[];
}

/** A threshold, and how it stood each time that it was judged. */
export interface ThresholdOverTime {
  /** Whether crossing it ends the run. */
  abortOnFail: boolean;
  /** The condition as written. */
  condition: string;
  /** The limit, in the metric's unit. */
  limit: number | null;
  /** The same as the terminal shows it. */
  limitText: string;
  /**
   * How far the observed value was from the limit, in the metric's unit: positive is head-room. Null where the observed
   * value is a bound or missing, and for `==` and `!=`.
   */
  margin: number | null;
  /** The same as a share of the limit. */
  marginShare: number | null;
  /** The margin as reports show it; null where there is none. */
  marginText: string | null;
  /** The metric or sub-metric. */
  metric: string;
  /** The observed value. */
  observed: ReportValue;
  /** Whether it held. */
  ok: boolean;
  /** Whether it held. */
  oks: boolean[];
  /** The statistic that was compared. */
  statistic: string;
  /** When it was judged, seconds. */
  t: number[];
  /** The observed value until then; null where there was nothing, or no number. */
  values: (number | null)[];
}

/** One line of the log. */
export interface LogRow {
  /** When, RFC 3339, UTC. */
  at: string;
  /** Further fields. */
  fields: ReportFact[];
  /** Its number, from 1. */
  id: number;
  /** `debug`, `info`, `warning`, `error`. */
  level: LogLevel;
  /** The text. */
  message: string;
  /** `console`, `stacktrace`, or empty for the runner itself. */
  source: string;
  /** When, seconds. */
  t: number;
}

/** Lines of the log. */
export interface Logs {
  /** In order. */
  lines: LogRow[];
  /** Lines that are not in the file, because there were too many. */
  lost: number;
  /** The value of `after` for the next ones; null where there are none. */
  next: number | null;
  /** How many the run has. */
  total: number;
}

/** Something that happened once. */
export interface Mark {
  /** `setup_started`, `scenarios_started`, `scenarios_ended`, `teardown_started`, `ended`, `samples_lost`. */
  kind: string;
  /** When, seconds. */
  t: number;
  /** More about it. */
  text: string;
}

/** A metric. */
export interface MetricName {
  /** `default`, `time` (milliseconds), `data` (bytes). */
  contains: Contains;
  /** Its name. */
  name: string;
  /** `counter`, `gauge`, `rate`, `trend`. */
  type: MetricKind;
}

/** A source text of the test. */
export interface ModuleHash {
  /** Its path or URL. */
  path: string;
  /** SHA-256 in hexadecimal digits. */
  sha256: string;
}

/** A note on a run. */
export interface NoteAnswer {
  /** Whether it is its script's baseline. */
  isBaseline: boolean;
  /** The note. */
  note: string;
}

/** An operation of a service. */
export interface OperationRow {
  /** How often. */
  count: ReportValue;
  /** How often it failed. */
  failed: ReportValue;
  /** The share that failed. */
  failedShare: ReportValue;
  /** The longest. */
  max: ReportValue;
  /** The operation. */
  operation: string;
  /** The median. */
  p50: ReportValue;
  /** The 95th percentile. */
  p95: ReportValue;
  /** The 99th percentile. */
  p99: ReportValue;
  /** How often per second. */
  rate: ReportValue;
  /** The service. */
  service: string;
  /** `internal`, `server`, `client`, `producer`, `consumer`. */
  side: SpanKind;
}

/** A part of a critical path. */
export interface PathPiece {
  /** When it ends. */
  end: number;
  /** `work`, `queue`, `between`. */
  kind: StageKind;
  /** Whose it is; see `TracePart`. */
  part: PartName;
  /** Its row; null where that is left out. */
  row: number | null;
  /** When it begins. */
  start: number;
}

/** One phase of requests. */
export interface Phase {
  /** The mean, milliseconds. */
  mean: ReportValue;
  /** `blocked`, `lookingUp` (a part of `blocked`), `connecting`, `tls`, `sending`, `waiting`, `receiving`. */
  name: PhaseName;
  /** The 95th percentile. */
  p95: ReportValue;
}

/** A statement that ran again and again. */
export interface RepeatRow {
  /** How often. */
  count: number;
  /** The mean. */
  mean: ReportValue;
  /** The resource that it ran in. */
  parent: string;
  /** Its fold; null where that is left out. */
  row: number | null;
  /** Of the critical path. */
  share: ReportValue;
  /** It without what differs. */
  statement: string;
  /** How long all together took. */
  total: ReportValue;
  /** How long the trace would be without what is on the critical path. */
  without: ReportValue;
}

/** Everything that is known of one run. */
export interface Report {
  /** The study of capacity that the run is a step of; absent where it is of none, and on the page. */
  capacity?: CapacityStudy;
  /** All checks over all groups, one per name. */
  checks: ReportCheck[];
  /** The diagnosis; absent where there is none, and on the page. */
  diagnosis?: DiagnosisReport;
  /** Requests by the tags `method` and `name`. */
  endpoints: ReportEndpoint[];
  /** Host and environment. */
  environment: ReportFact[];
  /** Distinct errors, the most frequent first. */
  errors: ReportError[];
  /** Errors that are in no entry, because there were too many distinct ones. */
  errorsBeyond: number;
  /** Server-side evidence; absent where none was collected, and on the page, which requests it separately. */
  evidence?: Evidence;
  /** Single requests that stand for others. */
  exemplars: ReportExemplar[];
  /** The state of the load generator. */
  generator: ReportGenerator;
  /** The groups of the whole run. */
  groups: ReportPart[];
  /** The last lines of the log. */
  log: ReportLog;
  /** Metrics and sub-metrics (`metric{tag:value}`) of the whole run, by name. */
  metrics: ReportMetric[];
  /** The consolidated options, with k6's keys. */
  options: {
    [k: string]: unknown;
  } | null;
  /** The exit code and its meaning; null where it is unknown. */
  outcome: ReportOutcome | null;
  /** The comparison with the previous run of the same script; absent where there is none, and on the page. */
  previous?: Comparison;
  /** Which run it is. */
  run: ReportRun;
  /** Each scenario. */
  scenarios: ReportPart[];
  /** The version of this shape: major, minor, patch. */
  schemaVersion: string;
  /** Every threshold, by metric, in the order of the script. */
  thresholds: ReportThreshold[];
  /** The validity of the measurement; null where it was not judged. */
  validity: ReportValidity | null;
  /** The verdict on the target. */
  verdict: ReportVerdict;
}

/** A check. */
export interface ReportCheck {
  /** How often it did not. */
  fails: number;
  /** Its name. */
  name: string;
  /** How often it held. */
  passes: number;
}

/** The requests of one endpoint. */
export interface ReportEndpoint {
  /** Their `http_req_duration`. */
  duration: ReportMetric;
  /** How many of them failed. */
  failed: number;
  /** The tag `method`. */
  method: string;
  /** The tag `name`. */
  name: string;
  /** How many. */
  requests: number;
}

/** A metric or sub-metric. */
export interface ReportMetric {
  /** `default`, `time` (milliseconds), `data` (bytes). */
  contains: Contains;
  /** `metric` or `metric{tag:value,…}`. */
  name: string;
  /** Why it cannot have values in this run. */
  notApplicable?: string;
  /** Of a trend, whether it was computed from every value (`exact`) or from a histogram (`histogram`). */
  precision?: Precision;
  /** The relative error that a histogram's quantiles have at most. */
  relativeErrorMax?: number;
  /** `counter`, `gauge`, `rate`, `trend`. */
  type: MetricKind;
  /** Values that failed without a time, of which `avg` knows nothing. */
  untimed?: number;
  /**
   * Counter `count`, `rate` (per second); gauge `value`, `min`, `max`; rate `rate`, `passes`, `fails`; trend the
   * statistics that were asked for.
   */
  values: {
    [k: string]: ReportValue;
  };
}

/** A distinct error. */
export interface ReportError {
  /** k6's error code; 0 for exceptions of the script. */
  code: number;
  /** How often. */
  count: number;
  /** The first one in full. */
  example: string;
  /** The message. */
  message: string;
}

/** The state of the load generator. */
export interface ReportGenerator {
  /** Iterations that were due and not started. */
  drops: ReportDrop[];
  /** Samples that did not fit into a queue to an export. */
  samplesLost: number;
  /** Windows that did not reach the run file. */
  windowsLost: number;
  /** Threads that made load; 0 where that is not known. */
  workers: number;
  /** Threads that stopped answering. */
  workersLost: number;
}

/** Iterations that were due and not started. */
export interface ReportDrop {
  /** `vus_exhausted`, `vu_starting`, `time_up`, `agent_lost`. */
  cause: DropCause;
  /** How many. */
  count: number;
  /** The scenario. */
  scenario: string;
}

/** A scenario or group. */
export interface ReportPart {
  /** Its checks. */
  checks: ReportCheck[];
  /** Groups in it. */
  groups: ReportPart[];
  /** Metrics of its samples. */
  metrics: ReportMetric[];
  /** Its name. */
  name: string;
  /** A group's names from the root, each after `::`; empty for a scenario. */
  path: string;
}

/** The last lines of the log. */
export interface ReportLog {
  /** Lines before them. */
  before: number;
  /** The lines, the oldest first. */
  lines: string[];
}

/** How the process ended. */
export interface ReportOutcome {
  /** Its exit code. */
  exitCode: number;
  /** The meaning of the code; empty with code 0. */
  message: string;
}

/** Which run it is. Texts that are not known are empty. */
export interface ReportRun {
  /** The commit that the script was in. */
  commit: string;
  /** Whether there were changes on top of that commit. */
  dirty: boolean;
  /** From the start to the end, or as far as is known, milliseconds. */
  elapsedMs: number;
  /** The run's id. */
  id: string;
  /** Where the run comes from, if another tool made it; absent for runs of Plimsoll. */
  imported?: ReportImport;
  /** The name its owner gave it. */
  name: string;
  /** Notes. */
  notes: string[];
  /** The version of Plimsoll that ran it. */
  plimsollVersion: string;
  /** The script as it was named. */
  script: string;
  /** The start by the wall clock, RFC 3339, UTC. */
  started: string;
  /** `complete`, `partial` (it ended without an ending on record), `live` (still going). */
  state: State;
  /** The run's own tags. */
  tags: ReportFact[];
  /** The version of what was tested. */
  targetVersion: string;
  /** The part of the run that all numbers are of; absent for the whole run. */
  window?: ReportWindow;
}

/** Where a run of another tool comes from, and what is not known of it. */
export interface ReportImport {
  /** Figures as the source stated them, or as they follow from its rows. */
  figures: ReportFigure[];
  /** The name of the file that was read. */
  file: string;
  /** Facts that the source lacks, a sentence each. */
  gaps: string[];
  /** Whether `started` is the source's; if not, it is the time of the import. */
  isStartKnown: boolean;
  /** The format: `k6-json`, `k6-csv`, `k6-summary`, `k6-text`, `ngrinder`. */
  source: string;
}

/** One figure of a source. */
export interface ReportFigure {
  /** Its kind. */
  name: string;
  /** How to read it; empty where the name says all. */
  note: string;
  /** `ms`, `%`, `/s`; empty for a plain count. */
  unit: string;
  /** Its value. */
  value: number;
}

/** A part of a run, from its start. */
export interface ReportWindow {
  /** Where it begins, milliseconds. */
  fromMs: number;
  /** Where it ends, milliseconds. */
  toMs: number;
}

/** A threshold and how it ended. */
export interface ReportThreshold {
  /** The condition as written. */
  condition: string;
  /** The limit, in the metric's unit. */
  limit: number | null;
  /** The same as the terminal shows it. */
  limitText: string;
  /**
   * How far the observed value was from the limit, in the metric's unit: positive is head-room. Null where the observed
   * value is a bound or missing, and for `==` and `!=`.
   */
  margin: number | null;
  /** The same as a share of the limit. */
  marginShare: number | null;
  /** The metric or sub-metric. */
  metric: string;
  /** The observed value. */
  observed: ReportValue;
  /** Whether it held. */
  ok: boolean;
  /** The statistic that was compared. */
  statistic: string;
}

/** Whether the numbers can be trusted: what is said about the generator and the data before the target. */
export interface ReportValidity {
  /** `valid`, `unmeasured`, `degraded`, `invalid`. */
  grade: Grade;
  /** The same with its reasons, as the terminal shows it. */
  line: string;
  /** Every reason, the worst first. */
  reasons: ReportReason[];
  /** How many seconds were judged, by grade. */
  seconds: ReportSeconds;
  /** Faults that were not measured. */
  unmeasured: string[];
}

/** Something that is wrong with a measurement. */
export interface ReportReason {
  /** The fault: `start_lag`, `worker_cpu`, …. */
  fault: string;
  /** How bad it is for the run; `valid` is a remark. */
  grade: Grade;
  /** The limit. */
  limit: number;
  /** The worst value measured. */
  observed: number;
  /** Seconds from the start in which it was so, as first and last; empty where it is of the run as a whole. */
  seconds: [number, number][];
  /** The unit of both: `1` for shares, `ms`, or none for a number of things. */
  unit: string;
}

/** Judged seconds by grade. */
export interface ReportSeconds {
  /** To be used with care. */
  degraded: number;
  /** To be left out. */
  invalid: number;
  /** Too little was measured. */
  unmeasured: number;
  /** Nothing is wrong with them. */
  valid: number;
}

/** The verdict on the target. */
export interface ReportVerdict {
  /** Why, in an English sentence. */
  sentence: string;
  /** `pass`, `fail`, `inconclusive`. */
  verdict: Verdict;
}

/** A piece of text in one style. */
export interface ReportSpan {
  /** `plain`, `code`, `strong`, `emphasis`. */
  style: SpanStyle;
  /** The text. It may quote scripts and servers. */
  text: string;
}

/** The title of a column. */
export interface ReportColumn {
  /** Whether it holds numbers, which are aligned to the right. */
  isNumber: boolean;
  /** Its text. */
  text: ReportSpan[];
}

/** A chapter of a report. */
export interface ReportChapter {
  /** Its number; 0 for the summary, which is shown without. */
  number: number;
  /** Its sections, in order. */
  sections: ReportSection[];
  /** Its title. */
  title: string;
}

/** A section of a chapter. */
export interface ReportSection {
  /** Its text. */
  blocks: ReportBlock[];
  /** Whether it holds details that a first reading skips. */
  isDetail: boolean;
  /** Its title; empty where it has the chapter's. */
  title: string;
}

/** A report on a run: the same chapters as in the Markdown report. */
export interface ReportDocument {
  /** The chapters. The first is the summary. */
  chapters: ReportChapter[];
  /** Names what was left out, and how to read the numbers. */
  foot: ReportBlock[];
  /** The verdict, the run's identity and its caveats. */
  head: ReportBlock[];
  /** The objective whose metric is drawn over time; null where the script has none on a time. */
  objective: ReportObjective | null;
}

/** The metric of an objective, as parameters of `/runs/{id}/series`. */
export interface ReportObjective {
  /** The parameter `metric`. */
  metric: string;
  /** The parameter `tags`; empty for all of the metric. */
  tags: string;
}

/** A scenario, a group or an endpoint. */
export interface RequestNode {
  /** Its children. */
  children: RequestNode[];
  /** Requests. */
  count: ReportValue;
  /** Failed ones. */
  failed: ReportValue;
  /** The share of failed ones. */
  failedShare: ReportValue;
  /** Its unique key. */
  key: string;
  /** `total`, `scenario`, `group`, `request`. */
  kind: NodeKind;
  /** The tag `method`; empty for what is no endpoint. */
  method: string;
  /** The scenario, the group, or the tag `name`. */
  name: string;
  /** The phases of the duration, in order. */
  phases: Phase[];
  /** Requests per second. */
  rate: ReportValue;
  /** The share of the time of all requests. */
  share: ReportValue;
  /** How long they took, milliseconds. */
  stats: RequestStats;
  /** How many there were of each status and error code. */
  statuses: StatusCount[];
  /** The value of `tags` that selects it in other answers. */
  tags: string;
}

/** Statistics of a duration. A quantile with fewer than ten samples beyond it is null and says so. */
export interface RequestStats {
  /** The mean. */
  avg: ReportValue;
  /** The largest. */
  max: ReportValue;
  /** The smallest. */
  min: ReportValue;
  /** The median. */
  p50: ReportValue;
  /** The 90th percentile. */
  p90: ReportValue;
  /** The 95th percentile. */
  p95: ReportValue;
  /** The 99th percentile. */
  p99: ReportValue;
}

/** Requests with one status. */
export interface StatusCount {
  /** How many. */
  count: number;
  /** The tag `error_code`; empty without. */
  errorCode: string;
  /** How many of them failed. */
  failed: number;
  /** The tag `status`; `0` is no response. */
  status: string;
}

/** Requests by scenario, group and endpoint. */
export interface Requests {
  /** Endpoints that are not listed individually: those with the fewest requests. */
  leftOut: number;
  /** The metric of the times. */
  metric: string;
  /** The scenarios. */
  nodes: RequestNode[];
  /** All statuses, in order; `0` is no response. */
  statuses: string[];
  /** All of them; null without requests. */
  total: RequestNode | null;
}

/** Earlier events are no longer available. */
export interface Reset {
  /** Why. */
  why: string;
}

/** Runs, the newest first. */
export interface RunList {
  /** The value of `before` for older ones; null where there are none. */
  before: string | null;
  /** Where they are kept, in words. */
  place: string;
  /** The runs. */
  runs: RunRow[];
  /** Files that cannot be read. */
  unreadable: Unreadable[];
}

/** A run in a line. Texts that are not known are empty. */
export interface RunRow {
  /** The size of its file. */
  bytes: number;
  /** How long it was, milliseconds. */
  elapsed: ReportValue;
  /** The process's exit code; null where it is unknown. */
  exitCode: number | null;
  /** Its key figures. */
  figures: RunFigures;
  /** `valid`, `unmeasured`, `degraded`, `invalid`; null while the run goes on. */
  grade: Grade | null;
  /** Its id. */
  id: string;
  /** The format that another tool's run was read from. */
  imported: string | null;
  /** Whether runs of its script are compared with it. */
  isBaseline: boolean;
  /** The name its owner gave it. */
  name: string;
  /** The note written on the page. */
  note: string;
  /** The threshold that the verdict names; null where none is near its limit, and where there are none. */
  objective: RunObjective | null;
  /** The script as it was named. */
  script: string;
  /** Requests per second in up to 40 equal parts of the run; null where a part was lost. */
  shape: (number | null)[];
  /** The start, RFC 3339, UTC; null where the source of an imported run does not say. */
  started: string | null;
  /** `complete`, `partial`, `live`. */
  state: State;
  /** `live`, `passed`, `failed`, `partial`, `imported`. */
  status: Status;
  /** The study that it is a level of. */
  study: RunStudy | null;
  /** The run's own tags. */
  tags: ReportFact[];
  /** The version of what was tested. */
  targetVersion: string;
  /** How many thresholds there are, and how many held. */
  thresholds: ThresholdCount;
  /** `pass`, `fail`, `inconclusive`. */
  verdict: Verdict;
}

/** A threshold in a line, in texts as the terminal shows them. */
export interface RunObjective {
  /** The limit. */
  limit: string;
  /** The metric and its statistic: `checkout_time p95`. */
  name: string;
  /** The observed value. */
  observed: string;
  /** Whether it held. */
  ok: boolean;
}

/** The study that a run is a level of. */
export interface RunStudy {
  /** `sweep`, `capacity`. */
  kind: string;
  /** The load of the level. */
  load: ReportValue;
  /** Its name. */
  name: string;
  /** The study's objective that the level violates, otherwise the one nearest to its limit; null where none was measured. */
  objective: RunObjective | null;
  /** When its first level began, seconds since 1970: studies of one name differ in it. */
  started: number;
}

/** How many thresholds there are. */
export interface ThresholdCount {
  /** Those that held. */
  held: number;
  /** All of them. */
  total: number;
}

/** A file that cannot be read. */
export interface Unreadable {
  /** Its name. */
  file: string;
  /** Why, as a sentence. */
  why: string;
}

/** A run, or a part of it. */
export interface RunPage {
  /** The command that ran it. */
  command: string;
  /** How much other answers hold. */
  counts: TabCounts;
  /** The wall clock at the end; null where it is unknown. */
  ended: string | null;
  /** The headline. */
  headline: Headline;
  /** Whether runs of its script are compared with it. */
  isBaseline: boolean;
  /** The metrics with samples. */
  metrics: MetricName[];
  /** The source texts. */
  modules: ModuleHash[];
  /** Why there are no response times: no scenario has due times. Null where there are. */
  noResponseTime: string | null;
  /** The note written on the page. */
  note: string;
  /** How to see it again when this process is gone. */
  reopen: string;
  /** The document that `report --format json` writes. */
  report: Report;
  /** The scenarios. */
  scenarios: ScenarioName[];
  /** How many windows there are, each a second. */
  seconds: number;
  /** `live`, `passed`, `failed`, `partial`, `imported`. */
  status: Status;
  /** The time range of the numbers. */
  window: ShownWindow;
  /** The wall clock at t = 0, RFC 3339, UTC. */
  zero: string;
}

/** How much other answers hold. */
export interface TabCounts {
  /** Agents that made the load; none where one process did. */
  agents: number;
  /** Distinct errors. */
  errors: number;
  /** Log lines of the whole run. */
  logs: number;
  /** Endpoints. */
  requests: number;
  /** Thresholds. */
  thresholds: number;
  /** Traces that were kept. */
  traces: number;
}

/** A scenario. */
export interface ScenarioName {
  /** Its executor. */
  executor: string;
  /** Whether it starts iterations by plan. */
  isOpen: boolean;
  /** Its name. */
  name: string;
}

/** Windows `from` to `to`, which is not among them. */
export interface ShownWindow {
  /** The first. */
  from: number;
  /** Whether they are all there are. */
  isWhole: boolean;
  /** The one after the last. */
  to: number;
}

/** Columns over time, all as long as `t`. Windows that were lost have no place in them. */
export interface Series {
  /** The counter, gauge or rate that was asked for; null where it was a trend, whose columns are `latency`. */
  chosen: ChosenSeries | null;
  /** Iterations per second that were due and not started. */
  dropped: Column;
  /** Errors per second by kind: the most frequent ones, and what else there is. */
  errors: ErrorSeries[];
  /** Failed requests per second. */
  failed: Column;
  /** Iterations finished per second. */
  finished: Column;
  /** The mean number of requests under way. */
  inFlight: Column;
  /** How long it took. */
  latency: Latency;
  /** Thresholds on the metric that can be drawn. */
  limits: LimitLine[];
  /** Events. */
  marks: Mark[];
  /** Iterations per second that were due by plan. */
  offered: Column;
  /** Bytes received per second. */
  received: Column;
  /** Requests per second. */
  requests: Column;
  /** Bytes sent per second. */
  sent: Column;
  /** Iterations started per second. */
  started: Column;
  /** Responses per second by status code: the most frequent ones, and what else there is. Empty while a run is in progress. */
  statuses: StatusSeries[];
  /** Seconds of a point. */
  step: number;
  /** The start of each point, seconds. */
  t: number[];
  /** VUs, the last value of each point. */
  vus: Column;
  /** VUs that were made. */
  vusMax: Column;
  /** How many seconds each covers; the last one may be shorter. */
  width: number[];
}

/** Responses with one status code. */
export interface StatusSeries {
  /** The code, `0` for requests without a response, or `other`. */
  status: string;
  /** Responses in the whole range. */
  total: number;
  /** Per second. */
  values: number[];
}

/** Services, databases, queues and hosts, and what goes between them. */
export interface Services {
  /** Ways from one to another. */
  edges: ServicesEdge[];
  /** Calls on connections that are not listed individually. */
  leftOut: number;
  /** Operations of services, of all spans received, the most frequent first. */
  operations: OperationRow[];
  /** Operations that are not listed individually: the least frequent. */
  operationsLeftOut: number;
  /** Everything that calls or is called. */
  places: ServicesPlace[];
  /** Requests per second that the load generator sent, traced or not. */
  requests: ReportValue;
  /** How the traces were chosen that the ways are read from. */
  sample: TraceSample;
  /** The time range of the numbers: whole tens of seconds around the requested range. */
  window: ShownWindow;
}

/** A way from one place to another. */
export interface ServicesEdge {
  /** Calls in the traces that were kept. */
  count: ReportValue;
  /** The share that failed in it. */
  failed: ReportValue;
  /** The key of who calls, or of the queue that is taken from. */
  from: string;
  /** How long calls took in it; from a queue, how long messages waited. */
  p50: ReportValue;
  /** How long calls took in it; from a queue, how long messages waited. */
  p95: ReportValue;
  /** Calls per second, from the unbiased sample and its share. */
  rate: ReportValue;
  /** The key of who is called. */
  to: string;
}

/** Something that calls or is called. */
export interface ServicesPlace {
  /** The share that failed. */
  failed: ReportValue;
  /** Its unique key. */
  key: string;
  /** `outside` (the sender of the requests), `service`, `queue`, `database`, `external`. */
  kind: MapNodeKind;
  /** Its name; empty for what is outside. */
  name: string;
  /** How long it took; of a queue, how long messages waited. */
  p50: ReportValue;
  /** How long it took; of a queue, how long messages waited. */
  p95: ReportValue;
  /** Of a service: what it answered or took from queues, per second, of all spans. Of others: of the sample, scaled up. */
  rate: ReportValue;
}

/** How traces were chosen. */
export interface TraceSample {
  /** Traces that were kept for a bucket of the histogram of what they begin with. */
  buckets: number;
  /** Traces that were kept because something in them failed. */
  errors: number;
  /** Traces that a store of traces had: neither all of them nor an unbiased sample. */
  found: number;
  /** Traces of the unbiased sample. */
  sampled: number;
  /** The share of all traces that is in the unbiased sample; null without one. */
  share: ReportValue | null;
  /** Traces that were kept because they are among the slowest. */
  slowest: number;
}

/** A row of a trace. */
export interface SpanRow {
  /** Further attributes. */
  attributes: ReportFact[];
  /** How many spans: of a fold all of them. */
  count: number;
  /** How many are above it. */
  depth: number;
  /** The same as a text; of a fold, all of them together. */
  duration: ReportValue;
  /** The span's number, 16 hexadecimal digits; that of the next row's for a wait, of the first for a fold. */
  id: string;
  /** Whether it failed, or one of a fold. */
  isError: boolean;
  /** Of a fold: whether they are one statement again and again. */
  isRepeated: boolean;
  /**
   * `span`; `wait`: a message is in its queue, or no traced service works until the next row; `fold`: the rows
   * below it are alike.
   */
  kind: SpanRowKind;
  /** How long it takes; of a fold, from the first to the last. */
  length: number;
  /** How much of it is on the critical path itself. */
  onPath: ReportValue;
  /** The operation; the queue of a wait, empty where it is in none. */
  operation: string;
  /** The part that no row below it covers. */
  own: ReportValue;
  /** The row that it is below. */
  parent: number | null;
  /** Whose its own time is; see `TracePart`. */
  part: PartName;
  /** The database, queue or host that it works with; empty without. */
  peer: string;
  /** The service. */
  service: string;
  /** `internal`, `server`, `client`, `producer`, `consumer`. */
  side: SpanKind;
  /** When it begins. */
  start: number;
  /** The database statement. */
  statement: string | null;
}

/** The slow traces of an operation against its fast ones. */
export interface SpeedDifference {
  /** Traces that took no longer than the median. */
  fast: number;
  /** The longest of the fast ones. */
  fastMax: ReportValue;
  /** The operation at their roots. */
  operation: string;
  /** Operations, the largest difference first. */
  rows: SpeedRow[];
  /** Traces that took no less than the 95th percentile. */
  slow: number;
  /** The shortest of the slow ones. */
  slowMin: ReportValue;
}

/** The time of an operation on the critical path. */
export interface SpeedRow {
  /** The mean in fast traces. */
  fast: ReportValue;
  /** `work`, `queue`, `between`. */
  kind: StageKind;
  /** How much longer it is in slow ones. */
  more: ReportValue;
  /** The operation. */
  operation: string;
  /** The service. */
  service: string;
  /** The mean in slow traces. */
  slow: ReportValue;
}

/** Thresholds over time. */
export interface Thresholds {
  /** As in the report. */
  thresholds: ThresholdOverTime[];
}

/** A second of a live run. */
export interface Tick {
  /** The most frequent errors so far. */
  errors: LiveError[];
  /** All errors so far. */
  errorsTotal: number;
  /** The headline so far. */
  headline: Headline;
  /** The window that was completed, as a series of one point; null before the first. */
  point: Series | null;
  /** How it stands. */
  state: LiveState;
}

/** A trace that stands for others. */
export interface TraceExemplar {
  /** How long it took. */
  duration: ReportValue;
  /** Its number. */
  id: string;
  /** `fastest`, `typical` (the median), `slowest`. */
  name: TraceExemplarName;
}

/** A fault of a trace. */
export interface TraceFlaw {
  /** How many spans. */
  count: number;
  /** `orphans`, `circles`, `twins`, `cut`, `moved`, `adopted`. */
  name: TraceFlawName;
}

/** A trace, as it is drawn. Times are milliseconds from its start. */
export interface TracePage {
  /** How long what it begins with took. */
  answer: ReportValue;
  /** It by the wall clock. */
  at: string;
  /** Rows whose attributes are not here: there were too many. */
  bare: number;
  /** From its start until the last of its work was over. */
  duration: ReportValue;
  /** Spans that failed. */
  errors: number;
  /** Faults of the trace that were repaired. */
  flaws: TraceFlaw[];
  /** Its number, 32 hexadecimal digits. */
  id: string;
  /** Why it was kept. */
  kept: TraceKept;
  /** Spans that are in no row: those that would come last. */
  leftOut: number;
  /** The operation of its root. */
  operation: string;
  /** Whose the time of the critical path was; the parts add up to the duration. */
  parts: TracePart[];
  /** The critical path in order of time, without holes. */
  path: PathPiece[];
  /** Statements that ran again and again. */
  repeats: RepeatRow[];
  /** Spans, waits and folded repeats, from top to bottom. */
  rows: SpanRow[];
  /** The service of its root. */
  service: string;
  /** Services that appear in it. */
  services: string[];
  /** How many spans there are. */
  spans: number;
  /** Its time in parts, without holes; long waits are drawn shorter. */
  stretches: TraceStretch[];
  /** When it began. */
  t: number;
}

/** Whose a part of the time was. */
export interface TracePart {
  /** Spans that it is of; queues for `queue`. */
  count: number;
  /** How long it was. */
  duration: ReportValue;
  /** `network`, `target`, `database`, `external`, `queue`, `unseen`, `poll`, `connecting`. */
  name: PartName;
  /** Of the whole. */
  share: ReportValue;
}

/** A part of a trace's time. */
export interface TraceStretch {
  /** How long it is. */
  duration: ReportValue;
  /** When it ends. */
  end: number;
  /** Whether it is one long wait. */
  isWait: boolean;
  /** When it begins. */
  start: number;
}

/** A trace in a list. */
export interface TraceRow {
  /** How long what it begins with took. */
  answer: ReportValue;
  /** It by the wall clock. */
  at: string;
  /** From its begin until the last of its work was over. */
  duration: ReportValue;
  /** Spans that failed. */
  errors: number;
  /** Its number, 32 hexadecimal digits. */
  id: string;
  /** Why it was kept: `sample`, `error`, `slowest`, `bucket`, `found`. */
  kept: TraceKept;
  /** The operation of its root. */
  operation: string;
  /** Shares of its time: network, target, database, external, queue, unseen, poll, connecting. */
  parts: (number | null)[];
  /** The share of all runs of what it begins with that took no longer; null where they were not counted. */
  place: ReportValue | null;
  /** The service of its root. */
  service: string;
  /** How many spans there are. */
  spans: number;
  /** When it began. */
  t: number;
}

/** Traces that were kept, as a search found them. */
export interface Traces {
  /** How many traces `parts` and `stages` are of. */
  averaged: number;
  /** Operations in which slow traces take longer than fast ones; null for few traces. */
  difference: SpeedDifference | null;
  /** Those that stand for others. */
  exemplars: TraceExemplar[];
  /** Whether these are all that were found, of which slow ones and failures are more than their share. */
  isBiased: boolean;
  /** Traces that are not listed individually: the shortest. */
  leftOut: number;
  /** Those that were found. */
  matching: number;
  /** How long they took on average; null without traces. */
  mean: ReportValue | null;
  /** Operations at their roots. */
  operations: string[];
  /** Whose the time was, on average; of the unbiased sample where it has any of those that were found. */
  parts: TracePart[];
  /** How those that were kept were chosen. */
  sample: TraceSample;
  /** Services that appear in any of them. */
  services: string[];
  /** The same for work that went through queues, stage by stage; empty where there is none. */
  stages: StageRow[];
  /** All that were kept. */
  total: number;
  /** Those that were found, the longest first. */
  traces: TraceRow[];
}

/** A fault that was not measured. */
export interface Unmeasured {
  /** The fault. */
  fault: string;
  /** In words. */
  text: string;
}

/** Whether the numbers can be trusted. */
export interface ValidityPage {
  /** The grade of each second. */
  grades: GradeRange[];
  /** The reasons in words, in the same order. */
  reasons: ValidityReason[];
  /** The measurements that it depends on. */
  strip: StripItem[];
  /** Faults that were not measured, in words. */
  unmeasured: Unmeasured[];
  /** As in the report. */
  validity: ReportValidity;
}

/** A reason in words. */
export interface ValidityReason {
  /** The fault. */
  fault: string;
  /** How bad it is for the run. */
  grade: Grade;
  /** The limit. */
  limit: ReportValue;
  /** The worst value measured. */
  observed: ReportValue;
  /** In which seconds, as first and last. */
  seconds: [number, number][];
  /** In a sentence. */
  sentence: string;
}
