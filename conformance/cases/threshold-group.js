// Thresholds on a group's duration and on a scenario's iterations.
import { group } from 'k6';

export const options = {
  thresholds: {
    'group_duration{group:::a::b}': ['max<1000'],
    'iterations{scenario:nobody}': ['count==0'],
    iteration_duration: ['p(99)<1000'],
    dropped_iterations: ['count==0'],
  },
};

export default function () {
  group('a', () => group('b', () => {}));
}
