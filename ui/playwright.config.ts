import { defineConfig } from '@playwright/test';

const PORT = Number(process.env['PORT'] ?? 4519);

export default defineConfig({
  testDir: 'tests',
  // These need built programs, and the former a quiet machine.
  testIgnore: ['speed/**', 'real/**'],
  workers: 1,
  timeout: 60_000,
  reporter: [['list']],
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    viewport: { width: 1440, height: 1000 },
    timezoneId: 'Asia/Seoul',
    locale: 'en-GB',
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
    },
  },
  webServer: { command: 'node tests/server.mjs', env: { PORT: String(PORT) }, url: `http://127.0.0.1:${PORT}/api/v1/about`, reuseExistingServer: false },
});
