-- 2,000 customers with 150 orders and one address each, and ten articles in stock.
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL, total integer NOT NULL, note text NOT NULL);
CREATE TABLE addresses (id integer PRIMARY KEY, customer_id integer NOT NULL UNIQUE, city text NOT NULL);
CREATE TABLE stock (id integer PRIMARY KEY, quantity integer NOT NULL);
INSERT INTO customers SELECT n, 'customer ' || n FROM generate_series(1, 2000) n;
INSERT INTO addresses SELECT n, n, 'city ' || n % 50 FROM generate_series(1, 2000) n;
INSERT INTO orders SELECT n, 1 + n % 2000, n % 997, repeat('x', 60) FROM generate_series(1, 300000) n;
INSERT INTO stock SELECT n, 1000000 FROM generate_series(1, 10) n;
CREATE INDEX orders_customer ON orders (customer_id);
ANALYZE;
