<?php
// MediaWiki on loopback, with APCu as its cache and two additions: a counter of page views, and a tag that asks a third party.
use MediaWiki\MediaWikiServices;

$wgSitename = 'Gallery';
$wgServer = 'http://127.0.0.1:' . getenv('PORT_APACHE');
$wgScriptPath = '';
$wgResourceBasePath = '';
$wgDBtype = 'mysql';
$wgDBserver = '127.0.0.1:' . getenv('PORT_MARIADB');
$wgDBname = $wgDBuser = $wgDBpassword = 'gallery';
$wgDBTableOptions = 'ENGINE=InnoDB, DEFAULT CHARSET=binary';
$wgSecretKey = $wgUpgradeKey = str_repeat('gallery', 8);
$wgCacheDirectory = getenv('WORK') . '/cache';
$wgMainCacheType = CACHE_ACCEL;
$wgParserCacheType = getenv('PARSER_CACHE') === '1' ? CACHE_ACCEL : CACHE_NONE;
$wgJobRunRate = 0;
$wgDefaultSkin = 'vector';
wfLoadSkin('Vector');

// A row per page counts its readers, in a transaction of its own before the page is sent.
$wgHooks['ArticleViewHeader'][] = function ($article) {
    $page = $article->getPage()->getId();
    if (getenv('COUNTER') === '1' && $page) {
        DeferredUpdates::addCallableUpdate(fn() => wfGetDB(DB_PRIMARY)->upsert(
            'hit_counter', ['page_id' => $page, 'page_counter' => 1], 'page_id', ['page_counter = page_counter + 1'], 'counter'
        ), DeferredUpdates::PRESEND);
    }
};

// <price/> in a page: its price is asked for each time that somebody reads the page.
$wgHooks['ParserFirstCallInit'][] = function ($parser) {
    $parser->setHook('price', function ($input, $arguments, $parser) {
        $parser->getOutput()->updateCacheExpiry(0);
        $answer = MediaWikiServices::getInstance()->getHttpRequestFactory()->get(getenv('UPSTREAM'), ['timeout' => 30], 'price');
        return htmlspecialchars((string)(json_decode((string)$answer)->price ?? 'unknown'));
    });
};
