// In a report, which is one file, nothing is loaded later.

export { default as Capacity } from './screens/Capacity.svelte';
export { default as Fleet } from './screens/Fleet.svelte';
