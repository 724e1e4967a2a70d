-- A box office: 2,000 customers with 150 bookings each, and 400 halls with 5 concerts each.
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE bookings (id integer PRIMARY KEY, customer_id integer NOT NULL, concert_id integer NOT NULL, price integer NOT NULL, note text NOT NULL);
CREATE TABLE halls (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE concerts (id integer PRIMARY KEY, hall_id integer NOT NULL, title text NOT NULL, booked integer NOT NULL);
INSERT INTO customers SELECT n, 'customer ' || n FROM generate_series(1, 2000) n;
INSERT INTO bookings SELECT n, 1 + n % 2000, 1 + n * 7 % 2000, n % 97, repeat('x', 60) FROM generate_series(1, 300000) n;
INSERT INTO halls SELECT n, 'hall ' || n FROM generate_series(1, 400) n;
INSERT INTO concerts SELECT n, 1 + n % 400, 'concert ' || n, 0 FROM generate_series(1, 2000) n;
CREATE INDEX bookings_customer ON bookings (customer_id);
CREATE INDEX concerts_hall ON concerts (hall_id);
ANALYZE;
