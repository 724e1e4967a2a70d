// k6/net/grpc: a value of every kind as JSON: 64-bit numbers, floats, bytes, enums, maps, oneofs, well-known types, Any.
import { connected, loaded } from './fixtures/grpc.js';
import { sorted } from './fixtures/sorted.js';

const client = loaded();

export default function () {
  const unary = connected(client);
  const again = (all) => console.log(sorted(unary({ all }).message.all));
  again({});
  again({ int32Field: -1, int64Field: '9007199254740993', uint32Field: 4294967295, uint64Field: '18446744073709551615' });
  again({ sint32Field: -2147483648, sint64Field: -5, fixed32Field: 7, fixed64_field: 8, sfixed32Field: '-9', sfixed64Field: -10 });
  again({ floatField: 0.1, doubleField: 1e300, boolField: true, stringField: 'é"\n', bytesField: 'AAH_' });
  again({ floatField: 'NaN', doubleField: '-Infinity' });
  again({ color: 'COLOR_GREEN', maybe: 0, numbers: [1, 2, 0], texts: ['', 'a'], counts: { b: 1, a: '2' } });
  again({ color: 9, choiceNumber: 0 });
  again({ choiceText: '', nested: { nested: {} } });
  again({ time: '2024-01-02T03:04:05.6+01:00', duration: '-1.5s', struct: { a: [1, null, { b: 'c' }] }, value: [true], wrapped: 0 });
  again({ value: null, any: { '@type': 'type.googleapis.com/testkit.Answer', text: 'in any' } });
  again({ any: { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '3s' } });
}
