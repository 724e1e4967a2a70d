import { Agent } from 'node:http';
import KeyvRedis from '@keyv/redis';
import { HttpModule } from '@nestjs/axios';
import { CacheModule } from '@nestjs/cache-manager';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Booking, Concert, Hall } from './entities';
import { OfficeController } from './office.controller';

const entities = [Booking, Concert, Hall];

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE,
      entities,
      extra: { max: Number(process.env.POOL_MAX) },
    }),
    TypeOrmModule.forFeature(entities),
    HttpModule.register({
      baseURL: process.env.UPSTREAM,
      httpAgent: new Agent({ keepAlive: true, maxSockets: Number(process.env.MAX_SOCKETS) }),
    }),
    CacheModule.register({ ttl: 60000, stores: [new KeyvRedis(process.env.REDIS)] }),
  ],
  controllers: [OfficeController],
})
export class AppModule {}
