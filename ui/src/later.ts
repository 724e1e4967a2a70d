// Screens that few runs have: parts of the script of their own, loaded when they are first shown. A report has `later.report.ts` instead.

export const Capacity = { load: () => import('./screens/Capacity.svelte') };
export const Fleet = { load: () => import('./screens/Fleet.svelte') };
