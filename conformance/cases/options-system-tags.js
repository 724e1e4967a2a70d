// systemTags: only those asked for; vu and iter are metadata.
import { check, group } from 'k6';

export const options = { systemTags: ['check', 'vu', 'iter'] };

export default function () {
  group('g', () => check(1, { tagged: true }));
}
