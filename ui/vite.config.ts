import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { singleFileReport } from './build/report.ts';

// The first browsers that know `light-dark()`; with older ones in the list the colours would be rewritten.
const BROWSERS = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

export default defineConfig({
  plugins: [svelte(), singleFileReport()],
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    sourcemap: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
});
