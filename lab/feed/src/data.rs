//! The contents of the pages. They are made on request: the store is time that passes.

use bytes::Bytes;
use serde_json::json;

/// Posts that there are, from 0.
pub(crate) const POSTS: usize = 100;

/// Feeds that differ; people share them.
pub(crate) const FEEDS: usize = 20;

/// How long each page is, about.
const FEED_BYTES: usize = 20_000;
const POST_BYTES: usize = 2_000;
const COMMENTS_BYTES: usize = 4_000;

/// A page that a cache can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// The newest posts, for some people.
    Feed(usize),
    /// One post.
    Post(usize),
    /// Its comments.
    Comments(usize),
}

impl Page {
    /// All that there are.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Page> {
        let posts = (0..POSTS).flat_map(|post| [Page::Post(post), Page::Comments(post)]);
        (0..FEEDS).map(Page::Feed).chain(posts)
    }

    /// The name that a cache knows it by.
    pub(crate) fn key(self) -> String {
        match self {
            Page::Feed(feed) => format!("feed:{feed}"),
            Page::Post(post) => format!("post:{post}"),
            Page::Comments(post) => format!("comments:{post}"),
        }
    }

    /// The page.
    pub(crate) fn render(self) -> Bytes {
        let (number, length) = match self {
            Page::Feed(feed) => (feed, FEED_BYTES),
            Page::Post(post) => (post, POST_BYTES),
            Page::Comments(post) => (post, COMMENTS_BYTES),
        };
        let text = format!("{} ", self.key()).repeat(length / (self.key().len() + 1));
        Bytes::from(json!({ "number": number, "text": text }).to_string())
    }
}
