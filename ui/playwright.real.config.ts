import { defineConfig } from '@playwright/test';
import made from './playwright.config';

export default defineConfig({
  ...made,
  testDir: 'tests/real',
  testIgnore: [],
  globalSetup: './tests/real/setup.ts',
  webServer: [],
});
