// fail() throws an Error that can be caught.
import { fail } from 'k6';

export default function () {
  try {
    fail('why');
  } catch (error) {
    console.log(error instanceof Error, error.message, String(error));
  }
  try {
    fail();
  } catch (error) {
    console.log('no message:', JSON.stringify(error.message));
  }
}
