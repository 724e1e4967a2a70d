-- Electricity meters: 2,000 meters at 40 sites, with 150 readings each.
CREATE TABLE sites (id integer PRIMARY KEY, city varchar(40) NOT NULL);
CREATE TABLE meters (id integer PRIMARY KEY, site_id integer NOT NULL, serial varchar(40) NOT NULL UNIQUE);
CREATE TABLE readings (id integer PRIMARY KEY, meter_id integer NOT NULL, taken datetime NOT NULL, kwh decimal(10, 2) NOT NULL, raw varchar(80) NOT NULL);
INSERT INTO sites SELECT seq, concat('City ', seq) FROM seq_1_to_40;
INSERT INTO meters SELECT seq, 1 + seq % 40, concat('EM-', 100000 + seq) FROM seq_1_to_2000;
INSERT INTO readings SELECT seq, 1 + seq % 2000, '2026-01-01' + INTERVAL seq MINUTE, seq % 9973 / 7, repeat('0a', 30) FROM seq_1_to_300000;
CREATE INDEX readings_of_meter ON readings (meter_id, taken);
ANALYZE TABLE sites, meters, readings;
