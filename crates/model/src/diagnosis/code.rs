//! The macro for enums whose variants have a word for machines.

/// Declares an enum with `ALL` and `as_str`: one line per variant with its word.
macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl $name {
            /// All variants, in order.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// Returns its word for machines, which is stable.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }
        }
    };
}

pub(crate) use codes;
