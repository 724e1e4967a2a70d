// A box office on NestJS. `--require …/register.cjs` starts the tracing.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(Number(process.env.PORT_APP), '127.0.0.1');
}
void bootstrap();
