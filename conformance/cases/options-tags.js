//! args: --tag from=flag --tag second=2
// Tags are replaced as a whole by a higher level.
import { check } from 'k6';

export const options = { tags: { from: 'script', gone: 'yes' } };

export default function () {
  check(1, { tagged: true });
}
