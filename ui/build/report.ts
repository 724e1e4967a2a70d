// Makes the one file that an exported report starts from: the page with its script and style inside.

import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';

/** Where an exporter puts the data: between these two parts of the file, as `<script type="application/json">`. */
export const DATA_MARK = '<!--plimsoll-data-->';

/** The mode of Vite that builds the report. */
export const REPORT_MODE = 'report';

/**
 * Emits `report.html`, and nothing else.
 *
 * The page in it may load nothing, and only the very script and style that were built may run: their digests are in its
 * policy. The data is a block that no browser runs, so that it needs no digest.
 */
export function singleFileReport(): Plugin {
  return {
    name: 'single-file-report',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const scripts = Object.values(bundle).filter((file) => file.type === 'chunk');
      const styles = Object.values(bundle).filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
      if (scripts.length !== 1 || styles.length !== 1) {
        this.error(`a report needs one script and one style, not ${scripts.length} and ${styles.length}`);
      }
      const script = inlinable(scripts[0]?.type === 'chunk' ? scripts[0].code.trim() : '');
      const style = styles[0]?.type === 'asset' ? String(styles[0].source).trim() : '';
      if (/<\/style/i.test(style)) this.error('the style would end its own element');
      const policy = [
        "default-src 'none'",
        `script-src '${digest(script)}'`,
        `style-src '${digest(style)}'`,
        'img-src data:',
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; ');
      const source = [
        '<!doctype html>',
        '<html lang="en">',
        '<head>',
        '<meta charset="utf-8">',
        `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<title>Plimsoll</title>',
        `<style>${style}</style>`,
        '</head>',
        '<body>',
        '<div id="app"></div>',
        '<noscript>This report draws itself with JavaScript, which is switched off here.</noscript>',
        DATA_MARK,
        `<script type="module">${script}</script>`,
        '</body>',
        '</html>',
        '',
      ].join('\n');
      for (const name of Object.keys(bundle)) delete bundle[name];
      this.emitFile({ type: 'asset', fileName: 'report.html', source });
    },
  };
}

// Within a script element `</script` ends it and `<!--` begins a comment. In code both stand in texts only, where an escape is
// the same text.
function inlinable(code: string): string {
  return code.replace(/<(?=!--|\/script)/gi, '\\x3C');
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
