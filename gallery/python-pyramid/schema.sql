-- A box office: 2,000 events with two acts and 150 tickets each.
CREATE TABLE events (id integer PRIMARY KEY, title text NOT NULL, city text NOT NULL);
CREATE TABLE acts (id integer PRIMARY KEY, event_id integer NOT NULL REFERENCES events, name text NOT NULL);
CREATE TABLE tickets (id integer PRIMARY KEY, event_id integer NOT NULL, seat text NOT NULL, price integer NOT NULL, note text NOT NULL);
INSERT INTO events SELECT n, 'Event ' || n, 'City ' || n % 50 FROM generate_series(1, 2000) n;
INSERT INTO acts SELECT n, 1 + n % 2000, 'Act ' || n FROM generate_series(1, 4000) n;
INSERT INTO tickets SELECT n, 1 + n % 2000, 'Row ' || n % 40, 20 + n % 97, repeat('-', 60) FROM generate_series(1, 300000) n;
CREATE INDEX acts_event ON acts (event_id);
CREATE INDEX tickets_event ON tickets (event_id);
ANALYZE;
