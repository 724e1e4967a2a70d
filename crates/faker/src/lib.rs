//! Made-up data: names, addresses, words, numbers. A seed gives the values that the extension `xk6-faker` of k6 gives.
//!
//! The crate does no I/O and reads no clock. It knows neither JavaScript nor k6's options.
//!
//! The lists are those of gofakeit 6.28 and the functions draw from them in the same order (see `data/README.md`). Where that
//! library leaves the seed aside (`date`, `dateRange`, `isin`), the functions here keep to it.

mod dates;
mod functions;
mod lists;
mod parameters;
mod random;
mod value;

pub use functions::{CATEGORIES, Category, Function};
pub use parameters::{Argument, Parameter};
pub use value::Value;

/// A function was not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FakerError {
    /// There is no such function.
    #[error("unknown function: {0}")]
    Unknown(String),
    /// An argument is missing.
    #[error("missing parameter: {0}")]
    Missing(&'static str),
    /// An argument is none.
    #[error("{0}")]
    Argument(String),
}

/// A source of made-up data. Values depend on its seed and on the calls before.
pub struct Faker(random::Draw);

impl std::fmt::Debug for Faker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faker").finish_non_exhaustive()
    }
}

impl Faker {
    /// A source with a seed.
    pub fn new(seed: u64) -> Faker {
        Faker(random::Draw::new(seed))
    }

    /// Calls a function. `now_unix_s` is the time in seconds since 1970 (UTC), which years and dates depend on.
    ///
    /// # Errors
    /// An argument is missing or is none.
    pub fn call(
        &mut self,
        function: &Function,
        arguments: &[Argument],
        now_unix_s: i64,
    ) -> Result<Value, FakerError> {
        self.0.now_unix_s = now_unix_s;
        function.call(&mut self.0, arguments)
    }
}

/// The function with a name.
///
/// # Errors
/// There is none.
pub fn function(name: &str) -> Result<&'static Function, FakerError> {
    let mut all = CATEGORIES.iter().flat_map(|category| category.functions);
    all.find(|function| function.name == name).ok_or_else(|| FakerError::Unknown(name.to_owned()))
}

#[cfg(test)]
mod tests;
