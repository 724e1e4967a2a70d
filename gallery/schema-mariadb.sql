-- 2,000 customers with 150 orders and one address each, and ten articles in stock.
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL, total integer NOT NULL, note text NOT NULL);
CREATE TABLE addresses (id integer PRIMARY KEY, customer_id integer NOT NULL UNIQUE, city text NOT NULL);
CREATE TABLE stock (id integer PRIMARY KEY, quantity integer NOT NULL);
INSERT INTO customers SELECT seq, concat('customer ', seq) FROM seq_1_to_2000;
INSERT INTO addresses SELECT seq, seq, concat('city ', seq % 50) FROM seq_1_to_2000;
INSERT INTO orders SELECT seq, 1 + seq % 2000, seq % 997, repeat('x', 60) FROM seq_1_to_300000;
INSERT INTO stock SELECT seq, 1000000 FROM seq_1_to_10;
CREATE INDEX orders_customer ON orders (customer_id);
ANALYZE TABLE customers, orders, addresses, stock;
