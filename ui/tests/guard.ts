// What no page may do, whatever is on it.

import type { Page } from '@playwright/test';

/** Notes errors of the page and requests that leave it, from now on. Statuses that are expected are no errors. */
export function guarded(page: Page, expected: number[] = []): () => string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    if (expected.some((status) => message.text().includes(`status of ${status}`))) return;
    problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['127.0.0.1', 'localhost', ''].includes(url.hostname)) problems.push(`request: ${request.url()}`);
  });
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return () => problems;
}
