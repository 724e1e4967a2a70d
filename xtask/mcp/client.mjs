// Tries `plimsoll mcp` with the Model Context Protocol's own client for TypeScript: client.mjs PROGRAM FOLDER SCRIPT.
import assert from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [program, folder, script] = process.argv.slice(2);
const client = new Client({ name: 'try', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: program, args: ['mcp', '--folder', folder] }));
const { tools } = await client.listTools();
assert.equal(tools.length, 7);
const call = (name, args) => client.callTool({ name, arguments: args });
const checked = await call('validate_script', { script });
assert.equal(checked.structuredContent.isRunnable, true, JSON.stringify(checked));
const ran = await call('run_script', { script, iterations: 2, vus: 1 });
assert.equal(ran.structuredContent.exit.code, 0, JSON.stringify(ran));
assert.ok(ran.content[0].text.startsWith(ran.structuredContent.validity.line));
const beyond = await call('run_script', { script, vus: 999, duration: '1s' });
assert.ok(beyond.isError && beyond.content[0].text.includes('--limit-vus'));
console.log('typescript: ok,', ran.content[0].text.split('\n')[0]);
await client.close();
