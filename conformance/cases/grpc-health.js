// k6/net/grpc: healthCheck().
import grpc from 'k6/net/grpc';
import { attempt, connected, loaded } from './fixtures/grpc.js';

const client = loaded();

export default function () {
  connected(client);
  console.log(client.healthCheck().status === grpc.HealthCheckServing);
  console.log(client.healthCheck('testkit.Echo').status === grpc.HealthCheckServing);
  console.log(client.healthCheck('down').status === grpc.HealthCheckNotServing);
  attempt('other', () => client.healthCheck('other'));
}
