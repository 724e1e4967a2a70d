<?php
define('DB_NAME', 'gallery');
define('DB_USER', 'gallery');
define('DB_PASSWORD', 'gallery');
define('DB_HOST', '127.0.0.1:' . getenv('PORT_MARIADB'));
define('WP_HOME', 'http://127.0.0.1:' . getenv('PORT_NGINX'));
define('WP_SITEURL', WP_HOME);
// No look for updates on other machines, and no background jobs started by visitors.
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('WP_ACCESSIBLE_HOSTS', '127.0.0.1');
define('DISABLE_WP_CRON', true);
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $name) {
    define($name, 'gallery');
}
$table_prefix = 'wp_';
define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
