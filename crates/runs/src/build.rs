//! The commit that this program was built from.

use runfile::Commit;

/// Returns the commit; `None` for a build without its repository.
pub fn commit() -> Option<Commit> {
    let hash = env!("PLIMSOLL_COMMIT");
    (!hash.is_empty()).then(|| Commit { hash: hash.to_owned(), dirty: env!("PLIMSOLL_IS_DIRTY") == "true" })
}
