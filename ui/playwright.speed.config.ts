// Speed of the page, measured with a program that the environment names; not part of the tests.

import { defineConfig } from '@playwright/test';
import shared from './playwright.config.ts';

export default defineConfig({
  ...shared,
  testDir: 'tests/speed',
  testIgnore: [],
  timeout: 600_000,
  use: { ...shared.use, baseURL: undefined },
  webServer: undefined,
});
