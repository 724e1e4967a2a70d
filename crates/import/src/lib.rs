//! Results of other tools as runs of ours: what the source supports is kept, what it cannot know is marked.
//!
//! One file per format. The room reads texts and makes events; who stores them is not its business.
