//! The description of a system of the lab.

use crate::assignment::Assignment;
use crate::error::LabError;
use crate::servers::Server;

/// A system under test.
#[derive(Debug)]
pub struct System {
    /// Its name: `appstore`.
    pub name: &'static str,
    /// Its description, in one line.
    pub summary: &'static str,
    /// The ways it can be built; the first is taken unless another is asked for.
    pub variants: &'static [Variant],
    /// The servers it needs. They are started in this order, the one that takes longest first.
    pub servers: &'static [&'static dyn Server],
    /// The scripts that load it, from the root of the repository; the first is the one to begin with.
    pub scripts: &'static [&'static str],
    /// Serves it until the process is ended.
    ///
    /// # Errors
    /// It cannot begin, or cannot go on.
    pub serve: fn(&Assignment) -> Result<(), String>,
}

/// One way to build a system.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// The difference that it makes, in one line.
    pub summary: &'static str,
}

impl System {
    /// The variant of this name, or the first where none is asked for.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn variant(&self, name: Option<&str>) -> Result<Variant, LabError> {
        let Some(name) = name else { return Ok(self.variants[0]) };
        let found = self.variants.iter().find(|variant| variant.name == name);
        found.copied().ok_or_else(|| LabError::NoVariant {
            system: self.name,
            variant: name.to_owned(),
            known: self.variants.iter().map(|variant| variant.name).collect::<Vec<_>>().join(", "),
        })
    }
}
