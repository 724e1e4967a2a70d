import { pbkdf2Sync } from 'node:crypto';
import { HttpService } from '@nestjs/axios';
import { CacheInterceptor } from '@nestjs/cache-manager';
import { Controller, Get, HttpCode, Param, ParseIntPipe, Post, UseInterceptors } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { firstValueFrom } from 'rxjs';
import { DataSource, LessThanOrEqual, Repository } from 'typeorm';
import { Booking, Concert, Hall } from './entities';

@Controller()
export class OfficeController {
  constructor(
    @InjectRepository(Booking) private readonly bookings: Repository<Booking>,
    @InjectRepository(Concert) private readonly concerts: Repository<Concert>,
    @InjectRepository(Hall) private readonly halls: Repository<Hall>,
    private readonly dataSource: DataSource,
    private readonly http: HttpService,
  ) {}

  @Get('customers/:id/bookings')
  findBookings(@Param('id', ParseIntPipe) customerId: number) {
    return this.bookings.find({ where: { customerId }, order: { price: 'DESC' }, take: 20 });
  }

  @Get('concerts/:id')
  @UseInterceptors(CacheInterceptor)
  findConcert(@Param('id', ParseIntPipe) id: number) {
    return this.concerts.findOneBy({ id });
  }

  // The concerts of 25 halls.
  @Get('halls')
  async findHalls() {
    const relations = { concerts: process.env.LAZY !== '1' };
    const shown: { name: string; concerts: Concert[] }[] = [];
    for (const hall of await this.halls.find({ where: { id: LessThanOrEqual(25) }, relations })) {
      shown.push({ name: hall.name, concerts: await hall.concerts });
    }
    return shown;
  }

  // The turnover of a day, for which the database works 50 ms.
  @Get('turnover')
  turnover() {
    return this.dataSource.query('SELECT sum(price) FROM bookings, pg_sleep(0.05) WHERE customer_id = 1');
  }

  @Get('price')
  async price() {
    const { data } = await firstValueFrom(this.http.get<{ price: number }>('/'));
    return data;
  }

  // A seat is sold once, so the concert stays locked until the booking is committed.
  @Post('concerts/:id/bookings')
  @HttpCode(200)
  async book(@Param('id', ParseIntPipe) id: number) {
    const before = process.env.CALL_IN_TRANSACTION === '1' ? undefined : await this.price();
    return this.dataSource.transaction(async (manager) => {
      const concert = await manager.findOneOrFail(Concert, { where: { id }, lock: { mode: 'pessimistic_write' } });
      const { price } = before ?? (await this.price());
      await manager.update(Concert, id, { booked: concert.booked + 1 });
      return { booked: concert.booked + 1, price };
    });
  }

  // The code on a ticket is derived from its number.
  @Get('tickets/:id')
  ticket(@Param('id', ParseIntPipe) id: number) {
    const code = pbkdf2Sync(String(id), 'box office', Number(process.env.ITERATIONS), 32, 'sha512');
    return { id, code: code.toString('hex') };
  }
}
