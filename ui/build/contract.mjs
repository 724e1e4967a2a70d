// Writes src/api/contract.ts, the types of the API's answers, from the published description of the API.
//
// `node build/contract.mjs --check` writes nothing and fails when the file is stale.

import { readFileSync, writeFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';

const FILE = new URL('../src/api/contract.ts', import.meta.url);
const DESCRIPTION = new URL('../../docs/format/page.openapi.json', import.meta.url);

/** A reference beside a description would become a type of its own; inside `allOf` it keeps the name of the type. */
function reviver(_key, value) {
  if (typeof value?.$ref !== 'string' || Object.keys(value).length === 1) return value;
  const { $ref, ...rest } = value;
  return { ...rest, allOf: [{ $ref }] };
}

const published = readFileSync(DESCRIPTION, 'utf8').replaceAll('#/components/schemas/', '#/$defs/');
const { info, components } = JSON.parse(published, reviver);
// The root only holds the definitions; it is removed below, because no answer has its shape.
const root = { title: 'Contract', type: 'object', properties: {}, additionalProperties: false, $defs: components.schemas };
const banner = `Generated from docs/format/page.openapi.json by \`npm run contract\`; do not edit.\n\n${info.description}`;
const text = await compile(root, 'Contract', {
  additionalProperties: false,
  bannerComment: banner.replace(/^/gm, '// ').replace(/ +$/gm, ''),
  unreachableDefinitions: true,
  style: { printWidth: 140, singleQuote: true },
});
const generated = text
  .replace(/export interface Contract \{\}\n/, '')
  .replace(/^ \* This interface was referenced by `Contract`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/gm, '')
  .replace(/\n *\*(?=\n *\*\/)/g, '')
  .replace(/\/\*\*\n *\* (.*)\n *\*\//g, '/** $1 */')
  .replace(/\n(?=(?:\/\*\* .* \*\/|\/\*\*)\nexport)/g, '\n\n');

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, generated);
} else if (readFileSync(FILE, 'utf8') !== generated) {
  console.error('src/api/contract.ts is stale: the API has changed. Run `npm run contract` and commit the result.');
  process.exit(1);
}
