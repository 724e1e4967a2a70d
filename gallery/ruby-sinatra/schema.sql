-- A library: 4,000 members with 100 loans each, and 20,000 books.
CREATE TABLE members (id integer PRIMARY KEY, name text NOT NULL, joined date NOT NULL);
CREATE TABLE books (id integer PRIMARY KEY, title text NOT NULL, shelf text NOT NULL, holds integer NOT NULL DEFAULT 0);
CREATE TABLE loans (id bigint PRIMARY KEY, member_id integer NOT NULL, book_id integer NOT NULL, due date NOT NULL, remark text NOT NULL);
INSERT INTO members SELECT n, 'Member ' || n, date '2020-01-01' + n % 1000 FROM generate_series(1, 4000) n;
INSERT INTO books SELECT n, 'Book number ' || n, 'R' || n % 80, 0 FROM generate_series(1, 20000) n;
INSERT INTO loans SELECT n, 1 + n % 4000, 1 + n % 19997, date '2024-01-01' + n % 700, repeat('-', 40) FROM generate_series(1, 400000) n;
CREATE INDEX loans_member_id_index ON loans (member_id);
ANALYZE;
