// Words of the API as a tone and an icon, so that colour never stands alone.

import type { Capacity, CapacityLevel, DiagnosisFinding, DiagnosisReport, EvidenceSource, Grade, PartName, Status, StripItem, Verdict } from './api/contract';
import type { IconName } from './parts/icons';

export type Tone = 'ok' | 'warn' | 'fail' | 'unk' | 'live';

export interface Look {
  tone: Tone;
  icon: IconName;
}

const LOOKS: Record<Tone, Look> = {
  ok: { tone: 'ok', icon: 'check' },
  warn: { tone: 'warn', icon: 'warning' },
  fail: { tone: 'fail', icon: 'cross' },
  unk: { tone: 'unk', icon: 'question' },
  live: { tone: 'live', icon: 'live' },
};

const HALF: Look = { tone: 'warn', icon: 'half' };
const EQUAL: Look = { tone: 'unk', icon: 'equal' };

/** Green only when nothing failed: thresholds may hold although requests or checks failed. */
export function ofVerdict(verdict: Verdict, hasFailures = false): Look {
  if (verdict === 'pass' && hasFailures) return LOOKS.warn;
  return verdict === 'pass' ? LOOKS.ok : verdict === 'fail' ? LOOKS.fail : HALF;
}

export function ofGrade(grade: Grade | null): Look {
  if (grade === 'valid') return LOOKS.ok;
  if (grade === 'degraded') return LOOKS.warn;
  return grade === 'invalid' ? LOOKS.fail : LOOKS.unk;
}

/** A run of which nothing was asked has passed nothing, nor has one that cannot be trusted: neither is green. */
export function ofStatus(status: Status, hasFailures: boolean, isJudged: boolean, validity: Grade | null): Look {
  if (status === 'passed' && (hasFailures || validity === 'invalid')) return LOOKS.warn;
  if (status === 'passed' && !isJudged) return { tone: 'unk', icon: 'check' };
  const tones: Record<Status, Look> = {
    live: LOOKS.live,
    passed: LOOKS.ok,
    failed: LOOKS.fail,
    partial: HALF,
    imported: { tone: 'unk', icon: 'import' },
  };
  return tones[status] ?? LOOKS.unk;
}

export function ofStrip(status: StripItem['status']): Look {
  return status === 'unknown' ? LOOKS.unk : (LOOKS[status] ?? LOOKS.unk);
}

export function ofHealth(health: EvidenceSource['health']): Look {
  return health === 'ok' ? LOOKS.ok : health === 'gaps' ? LOOKS.warn : LOOKS.unk;
}

export function ofSeverity(severity: string): Look {
  return severity === 'error' ? LOOKS.fail : severity === 'warning' ? LOOKS.warn : { tone: 'unk', icon: 'note' };
}

export function ofChange(verdict: string): Look {
  if (verdict === 'improved') return LOOKS.ok;
  if (verdict === 'regressed') return LOOKS.fail;
  if (verdict === 'equivalent') return EQUAL;
  return verdict === 'inconclusive' ? HALF : LOOKS.unk;
}

export function ofCapacity(verdict: Capacity['verdict']): Look {
  if (verdict === 'confirmed') return LOOKS.ok;
  if (verdict === 'broke' || verdict === 'below_all') return LOOKS.fail;
  return verdict === 'unknown' ? LOOKS.unk : HALF;
}

export function ofLevel(verdict: CapacityLevel['verdict']): Look {
  const looks: Record<CapacityLevel['verdict'], Look> = {
    baseline: EQUAL,
    normal: LOOKS.ok,
    knee: HALF,
    past_knee: HALF,
    saturated: LOOKS.warn,
    slo_exceeded: LOOKS.fail,
    collapse: LOOKS.fail,
    unknown: LOOKS.unk,
  };
  return looks[verdict] ?? LOOKS.unk;
}

/** Whether an objective holds at a level. */
export function ofKept(isKept: boolean | null): Look {
  return isKept === null ? LOOKS.unk : ofHeld(isKept);
}

export function ofOutcome(outcome: DiagnosisReport['outcome']): Look {
  if (outcome === 'limited') return LOOKS.fail;
  if (outcome === 'no_server_bottleneck') return LOOKS.ok;
  return outcome === 'generator' ? LOOKS.warn : LOOKS.unk;
}

export function ofRole(role: DiagnosisFinding['role']): Look {
  return role === 'contributes' ? LOOKS.warn : LOOKS.fail;
}

export function ofHeld(ok: boolean): Look {
  return ok ? LOOKS.ok : LOOKS.fail;
}

/** The colours of whose time it is. */
export const PART_COLOURS: Record<PartName, string> = {
  network: '--s7',
  target: '--s3',
  database: '--s4',
  external: '--s2',
  queue: '--s1',
  unseen: '--s6',
  poll: '--s8',
  connecting: '--s5',
};

/** Whether the whole time of a segment is waiting. */
export function isWait(part: PartName): boolean {
  return part === 'queue' || part === 'unseen' || part === 'poll';
}

/** The colours of services, which are no part's colours but that of services. */
export const SERVICE_COLOURS = ['--s3', '--s5', '--s8', '--s7', '--s6'];

const STAGE_COLOURS = ['--s3', '--s5', '--s2', '--s4', '--s7', '--s8', '--s1', '--s6'];

/** The colour of a part of the time: whose it is, or one for each stage of those that are named. */
export function colourOfPart(name: string, all: string[]): string {
  const known = PART_COLOURS[name as PartName];
  return known ?? STAGE_COLOURS[all.indexOf(name) % STAGE_COLOURS.length] ?? '--s6';
}
