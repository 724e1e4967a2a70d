-- 200,000 old pages without text, 2,000 pages that link to each other, one with a long table, and one with a price from a third party.
CREATE TABLE hit_counter (page_id integer unsigned PRIMARY KEY, page_counter bigint unsigned NOT NULL);
CREATE TEMPORARY TABLE new_page (id integer PRIMARY KEY, title varbinary(255) NOT NULL, body mediumblob NOT NULL);
SET SESSION group_concat_max_len = 10000000;
INSERT INTO new_page SELECT 300000 + seq, concat('Page_', seq), concat('== Section ', seq, ' ==\n', repeat(concat('Lorem ipsum ', seq, '. '), 40),
  '\n* [[Page ', 1 + seq * 7 % 2000, ']]\n* [[Page ', 1 + seq * 13 % 2000, ']]\n') FROM seq_1_to_2000;
INSERT INTO new_page SELECT 303001, 'Report', concat('{|\n', group_concat('|-\n| \'\'\'', seq, '\'\'\' || [[Page ', seq, ']] || ', seq * 31 % 997, '\n' SEPARATOR ''), '|}\n') FROM seq_1_to_1500;
INSERT INTO new_page SELECT 303002, 'Price', 'The price is <price/> today.';
INSERT INTO text (old_id, old_text, old_flags) SELECT id, body, 'utf-8' FROM new_page;
INSERT INTO content (content_id, content_size, content_sha1, content_model, content_address)
  SELECT id, length(body), left(sha1(body), 31), (SELECT min(content_model) FROM content), concat('tt:', id) FROM new_page;
INSERT INTO revision (rev_id, rev_page, rev_comment_id, rev_actor, rev_timestamp, rev_len, rev_parent_id, rev_sha1)
  SELECT id, id, 0, (SELECT min(actor_id) FROM actor), '20260101000000', length(body), 0, '' FROM new_page;
INSERT INTO revision_comment_temp SELECT id, (SELECT min(comment_id) FROM comment) FROM new_page;
INSERT INTO slots (slot_revision_id, slot_role_id, slot_content_id, slot_origin) SELECT id, (SELECT min(slot_role_id) FROM slots), id, id FROM new_page;
INSERT INTO page (page_id, page_namespace, page_title, page_is_new, page_random, page_touched, page_latest, page_len, page_content_model)
  SELECT id, 0, title, 1, rand(), '20260101000000', id, length(body), 'wikitext' FROM new_page;
INSERT INTO page (page_id, page_namespace, page_title, page_is_new, page_random, page_touched, page_latest, page_len, page_content_model)
  SELECT 1000 + seq, 0, concat('Old_page_', seq), 1, rand(), '20260101000000', 1, 500, 'wikitext' FROM seq_1_to_200000;
INSERT INTO hit_counter SELECT id, 0 FROM new_page;
