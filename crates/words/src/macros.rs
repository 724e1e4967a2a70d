//! The two ways to write a message: both keep its languages side by side, so that neither can be forgotten.

/// Formats one message in the language asked for: `text!(lang, "{count} runs", "실행 {count}개")`. Only that language is formatted.
#[macro_export]
macro_rules! text {
    ($lang:expr, $en:literal, $ko:literal $(,)?) => {
        match $lang {
            $crate::Lang::En => format!($en),
            $crate::Lang::Ko => format!($ko),
        }
    };
}

/// Declares a catalogue as methods of [`Lang`](crate::Lang): one entry per message with its arguments, English first.
///
/// ```ignore
/// catalogue! {
///     /// The title of the section on thresholds.
///     thresholds = "Thresholds" | "임계값";
///     exit_code(code) = "exit code {code}" | "종료 코드 {code}";
/// }
/// assert_eq!(Lang::En.exit_code(99), "exit code 99");
/// ```
///
/// An entry without arguments is a `&'static str`; with arguments it takes anything that can be displayed and returns a `String`.
/// `ALL` lists every entry with its texts as written, for tests.
#[macro_export]
macro_rules! catalogue {
    ($($(#[doc = $doc:literal])* $key:ident $(($($arg:ident),+ $(,)?))? = $en:literal | $ko:literal;)*) => {
        impl $crate::Lang {
            $($crate::catalogue!(@one $key ($($($arg),+)?) $en $ko);)*
        }

        /// Every entry: key, English, Korean.
        pub const ALL: &[(&str, &str, &str)] = &[$((stringify!($key), $en, $ko),)*];
    };
    (@one $key:ident () $en:literal $ko:literal) => {
        #[doc = $en]
        pub const fn $key(self) -> &'static str {
            match self {
                $crate::Lang::En => $en,
                $crate::Lang::Ko => $ko,
            }
        }
    };
    (@one $key:ident ($($arg:ident),+) $en:literal $ko:literal) => {
        #[doc = $en]
        pub fn $key(self, $($arg: impl ::std::fmt::Display),+) -> String {
            match self {
                $crate::Lang::En => format!($en),
                $crate::Lang::Ko => format!($ko),
            }
        }
    };
}
