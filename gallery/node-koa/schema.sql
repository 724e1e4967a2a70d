-- A library: 2,000 members with 150 loans each, 300 shelves with 20 books each, and 20 counters.
CREATE TABLE members (id integer PRIMARY KEY, name varchar(80) NOT NULL, branch integer NOT NULL);
CREATE TABLE loans (id integer PRIMARY KEY, member_id integer NOT NULL, book_id integer NOT NULL, days integer NOT NULL, note varchar(120) NOT NULL);
CREATE TABLE shelves (id integer PRIMARY KEY, title varchar(80) NOT NULL);
CREATE TABLE books (id integer PRIMARY KEY, shelf_id integer NOT NULL, title varchar(80) NOT NULL);
CREATE TABLE counters (id integer PRIMARY KEY, issued integer NOT NULL);
INSERT INTO members SELECT seq, concat('member ', seq), seq % 7 FROM seq_1_to_2000;
INSERT INTO loans SELECT seq, 1 + seq % 2000, 1 + seq % 6000, seq % 97, repeat('n', 60) FROM seq_1_to_300000;
INSERT INTO shelves SELECT seq, concat('shelf ', seq) FROM seq_1_to_300;
INSERT INTO books SELECT seq, 1 + seq % 300, concat('book ', seq) FROM seq_1_to_6000;
INSERT INTO counters SELECT seq, 0 FROM seq_1_to_20;
CREATE INDEX loans_member ON loans (member_id);
CREATE INDEX books_shelf ON books (shelf_id);
ANALYZE TABLE members, loans, shelves, books, counters;
