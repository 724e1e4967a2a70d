<?php
// Installs the blog with fifty posts, unless it is installed: php install.php FOLDER
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = '127.0.0.1';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
function wp_mail() {
    return true;
}
if (!is_blog_installed()) {
    wp_install('Gallery', 'admin', 'admin@example.com', true, '', 'gallery');
    foreach (range(1, 50) as $n) {
        wp_insert_post(['post_title' => "Post $n", 'post_content' => str_repeat("Lorem ipsum $n. ", 100), 'post_status' => 'publish', 'post_author' => 1]);
    }
}
