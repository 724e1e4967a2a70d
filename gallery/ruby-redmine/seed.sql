-- A public project with 2,000 issues, and 600,000 journals of which each issue has five.
UPDATE settings SET value = '1' WHERE name = 'rest_api_enabled';
INSERT INTO settings (name, value, updated_on) SELECT 'rest_api_enabled', '1', now() WHERE NOT EXISTS (SELECT 1 FROM settings WHERE name = 'rest_api_enabled');
INSERT INTO settings (name, value, updated_on) VALUES ('per_page_options', '25,50,100', now());
INSERT INTO projects (id, name, identifier, is_public, status, lft, rgt, created_on, updated_on) VALUES (1, 'Shop', 'shop', true, 1, 1, 2, now(), now());
INSERT INTO enabled_modules (project_id, name) VALUES (1, 'issue_tracking');
INSERT INTO issue_statuses (id, name, position, is_closed) VALUES (1, 'New', 1, false);
INSERT INTO trackers (id, name, position, default_status_id) VALUES (1, 'Bug', 1, 1);
INSERT INTO projects_trackers (project_id, tracker_id) VALUES (1, 1);
INSERT INTO enumerations (id, name, type, position, is_default, active) VALUES (1, 'Normal', 'IssuePriority', 1, true, true);
INSERT INTO users (id, login, firstname, lastname, type, status, language, created_on, updated_on) VALUES (100, 'author', 'An', 'Author', 'User', 1, 'en', now(), now());
INSERT INTO issues (id, tracker_id, project_id, subject, description, status_id, priority_id, author_id, lft, rgt, root_id, created_on, updated_on)
  SELECT n, 1, 1, 'Issue ' || n, repeat('text ', 40), 1, 1, 100, 1, 2, n, now(), now() FROM generate_series(1, 2000) n;
INSERT INTO journals (id, journalized_id, journalized_type, user_id, notes, created_on)
  SELECT n, CASE WHEN n <= 10000 THEN 1 + n % 2000 ELSE 10000 + n END, 'Issue', 100, repeat('note ', 10), now() FROM generate_series(1, 600000) n;
