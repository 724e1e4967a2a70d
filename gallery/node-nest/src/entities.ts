import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';

@Entity('bookings')
export class Booking {
  @PrimaryColumn() id: number;
  @Column({ name: 'customer_id' }) customerId: number;
  @Column() price: number;
}

@Entity('halls')
export class Hall {
  @PrimaryColumn() id: number;
  @Column() name: string;
  // A promise makes the relation lazy: it is loaded when it is awaited, unless it is there.
  @OneToMany(() => Concert, (concert) => concert.hall) concerts: Promise<Concert[]>;
}

@Entity('concerts')
export class Concert {
  @PrimaryColumn() id: number;
  @Column() title: string;
  @Column() booked: number;
  @ManyToOne(() => Hall, (hall) => hall.concerts) @JoinColumn({ name: 'hall_id' }) hall: Promise<Hall>;
}
