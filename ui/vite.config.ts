import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { REPORT_MODE, singleFileReport } from './build/report.ts';

// The first browsers that know `light-dark()`; with older ones in the list the colours would be rewritten.
const BROWSERS = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

// What a report never shows: it is about one run that has ended. Each of these is left out of its file.
const ABSENT = /\/(?:screens\/(?:Compare|Live|Runs)|parts\/(?:Stop|Token))\.svelte$/;

export default defineConfig(({ mode }) => ({
  plugins: [svelte(), ...(mode === REPORT_MODE ? [singleFileReport()] : [])],
  resolve: {
    alias:
      mode === REPORT_MODE
        ? [
            { find: new RegExp(`^.*${ABSENT.source}`), replacement: fileURLToPath(new URL('src/parts/Absent.svelte', import.meta.url)) },
            { find: /^\.\/later$/, replacement: fileURLToPath(new URL('src/later.report.ts', import.meta.url)) },
          ]
        : [],
  },
  build: {
    // The report is built after the page, beside it.
    emptyOutDir: mode !== REPORT_MODE,
    target: BROWSERS,
    cssTarget: BROWSERS,
    sourcemap: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
}));
