// The screens of a run: one file each, and one line here.

import type { Component } from 'svelte';
import type { RunPage } from './api/contract';
import type { LiveFeed } from './api/live.svelte';
import { Capacity, Fleet } from './later';
import Audit from './screens/Audit.svelte';
import Bottleneck from './screens/Bottleneck.svelte';
import Distribution from './screens/Distribution.svelte';
import Errors from './screens/Errors.svelte';
import Evidence from './screens/Evidence.svelte';
import Live from './screens/Live.svelte';
import Logs from './screens/Logs.svelte';
import Report from './screens/Report.svelte';
import Requests from './screens/Requests.svelte';
import Services from './screens/Services.svelte';
import Summary from './screens/Summary.svelte';
import Traces from './screens/Traces.svelte';
import Validity from './screens/Validity.svelte';
import type { Label } from './strings';

/** What every screen of a run is given. */
export interface ScreenProps {
  /** The run's id, as paths of the API take it. */
  run: string;
  /** The run document of the chosen window. */
  page: RunPage;
  /** What arrives while the run goes on; absent for one that has ended. */
  live: LiveFeed | undefined;
}

/** A part of the script of its own, loaded when it is first shown: few runs have such a screen. */
export interface Later {
  load: () => Promise<{ default: Component<ScreenProps> }>;
}

export interface Screen {
  /** Its name in addresses. */
  name: string;
  title: Label;
  component: Component<ScreenProps> | Later;
  /** How many things are on it, for its tab. */
  count?: (page: RunPage) => number;
  /** Whether the run has it at all; every run if unset. */
  isShown?: (page: RunPage) => boolean;
  /** Whether it is there only while the run goes on. */
  whileLive?: boolean;
  /** Whether it is there only once the run has ended. */
  onceEnded?: boolean;
}

export const SCREENS: Screen[] = [
  { name: 'live', title: 'screen_live', component: Live, whileLive: true },
  { name: 'summary', title: 'screen_summary', component: Summary },
  { name: 'requests', title: 'screen_requests', component: Requests, count: (page) => page.counts.requests },
  { name: 'evidence', title: 'screen_evidence', component: Evidence },
  { name: 'bottleneck', title: 'screen_bottleneck', component: Bottleneck },
  { name: 'capacity', title: 'screen_capacity', component: Capacity },
  { name: 'distribution', title: 'screen_distribution', component: Distribution },
  { name: 'errors', title: 'screen_errors', component: Errors, count: (page) => page.counts.errors },
  { name: 'traces', title: 'screen_traces', component: Traces, count: (page) => page.counts.traces },
  { name: 'services', title: 'screen_services', component: Services },
  { name: 'logs', title: 'screen_logs', component: Logs, count: (page) => page.counts.logs },
  { name: 'validity', title: 'screen_validity', component: Validity },
  { name: 'fleet', title: 'screen_fleet', component: Fleet, count: (page) => page.counts.agents, isShown: (page) => page.counts.agents > 0 },
  { name: 'audit', title: 'screen_audit', component: Audit },
  { name: 'report', title: 'report', component: Report, onceEnded: true },
];
