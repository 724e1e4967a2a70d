//! Emoji.

use super::{Function, pick};

pub(super) const FUNCTIONS: &[Function] = &[
    pick("emoji", "emoji.emoji"),
    pick("emojiAlias", "emoji.alias"),
    pick("emojiCategory", "emoji.category"),
    pick("emojiDescription", "emoji.description"),
    pick("emojiTag", "emoji.tag"),
];
