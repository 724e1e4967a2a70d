// Outside a VU most of k6/execution cannot be read.
import exec from 'k6/execution';

const said = [];

function attempt(name, action) {
  try {
    action();
    said.push(`${name} read`);
  } catch (error) {
    said.push(`${name} refused`);
  }
}

attempt('scenario', () => exec.scenario.name);
attempt('vu', () => exec.vu.idInTest);
attempt('instance', () => exec.instance.vusActive);
attempt('options', () => exec.test.options.vus);

export function setup() {
  const lines = [];
  const attemptHere = (name, action) => {
    try {
      lines.push(`setup: ${name} ${action()}`);
    } catch (error) {
      lines.push(`setup: ${name} refused`);
    }
  };
  attemptHere('scenario', () => exec.scenario.name);
  attemptHere('vu', () => exec.vu.idInTest);
  attemptHere('group', () => exec.vu.tags.group);
  attemptHere('active', () => exec.instance.vusActive);
  return lines;
}

export default function (lines) {
  said.forEach((line) => console.log(line));
  lines.forEach((line) => console.log(line));
}
