-- A reader with 2,000 podcasts of 100 entries each, which have an enclosure each. `start` sets the addresses of the first 2,000 entries.
INSERT INTO api_keys (user_id, token, description) VALUES (1, 'gallery-of-keys', 'gateway');
INSERT INTO categories (user_id, title) SELECT 1, 'Category ' || n FROM generate_series(2, 20) n;
INSERT INTO icons (id, hash, mime_type, content, external_id) VALUES (1, 'icon', 'image/png', '\x89504e470d0a1a0a', 'icon');
INSERT INTO feeds (id, user_id, category_id, title, feed_url, site_url)
  SELECT n, 1, 1 + n % 20, 'Feed ' || n, 'http://127.0.0.1/feeds/' || n, 'http://127.0.0.1/' FROM generate_series(1, 2000) n;
INSERT INTO feed_icons (feed_id, icon_id) SELECT n, 1 FROM generate_series(1, 2000) n;
INSERT INTO entries (id, user_id, feed_id, hash, published_at, created_at, changed_at, title, url, author, status, reading_time, content,
    document_vectors)
  SELECT n, 1, 1 + n % 2000, md5(n::text), day, day, day, title, 'http://127.0.0.1/entries/' || n, 'Author ' || n % 300,
    (CASE WHEN n > 160000 THEN 'unread' ELSE 'read' END)::entry_status, 2, content, to_tsvector(title || ' ' || content)
  FROM generate_series(1, 200000) n,
    LATERAL (SELECT 'Entry ' || n || ' about topic' || n % 997 AS title, now() - (200001 - n) * interval '20 seconds' AS day,
      '<p>' || repeat('A report from place' || n % 541 || ' on that topic. ', 6) || '</p>' AS content) texts;
INSERT INTO enclosures (user_id, entry_id, url, size, mime_type)
  SELECT 1, n, 'http://127.0.0.1/media/' || n || '.mp3', 12345678, 'audio/mpeg' FROM generate_series(1, 200000) n;
SELECT setval('categories_id_seq', 100), setval('feeds_id_seq', 2000), setval('entries_id_seq', 200000);
VACUUM ANALYZE;
