-- 150,000 customers, each with a password, most with two former passwords. `start` sets the passwords of the first 2,000.
INSERT INTO user_entity (id, username, email, email_constraint, email_verified, enabled, first_name, last_name, realm_id,
    created_timestamp, not_before)
  SELECT 'customer-' || n, 'customer' || n, 'customer' || n || '@example.com', 'customer' || n || '@example.com', true, true, 'Customer',
    'Number ' || n, realm.id, 1700000000000, 0
  FROM realm, generate_series(1, 150000) n WHERE realm.name = 'shop';
INSERT INTO credential (id, type, user_id, created_date, secret_data, credential_data, priority)
  SELECT 'password-' || n, 'password', 'customer-' || n, 1700000000000, repeat('x', 200), repeat('y', 100), 10
  FROM generate_series(1, 150000) n;
INSERT INTO credential (id, type, user_id, created_date, secret_data, credential_data, priority)
  SELECT 'former-' || age || '-' || n, 'password-history', 'customer-' || n, 1600000000000, repeat('x', 200), repeat('y', 100), 20
  FROM generate_series(3001, 150000) n, generate_series(1, 2) age;
INSERT INTO user_attribute (id, name, value, user_id)
  SELECT name || '-' || n, name, 'value ' || n % 50, 'customer-' || n
  FROM generate_series(1, 150000) n, (VALUES ('city'), ('language')) names (name);
INSERT INTO user_role_mapping (role_id, user_id)
  SELECT realm.default_role, 'customer-' || n FROM realm, generate_series(1, 150000) n WHERE realm.name = 'shop';
ANALYZE;
