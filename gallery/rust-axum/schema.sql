-- A parcel service: 2,000 customers with 150 parcels each, and 500 lockers.
CREATE TABLE parcels (id integer PRIMARY KEY, customer_id integer NOT NULL, weight integer NOT NULL, status text NOT NULL, note text NOT NULL);
CREATE TABLE lockers (id integer PRIMARY KEY, place text NOT NULL, free integer NOT NULL);
INSERT INTO parcels SELECT n, 1 + n % 2000, 50 + n % 977, (ARRAY['sent', 'sorted', 'delivered'])[1 + n % 3], repeat('-', 40) FROM generate_series(1, 300000) n;
INSERT INTO lockers SELECT n, 'Station ' || n % 60, 1000000 FROM generate_series(1, 500) n;
CREATE INDEX parcels_customer ON parcels (customer_id);
ANALYZE;
