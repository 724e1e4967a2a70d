//! The ways to write a message: each keeps its languages side by side, so that neither can be forgotten.

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

/// Declares texts of the page as data, `TEXTS`: one entry per message with its arguments, English first.
///
/// ```ignore
/// page_catalogue! {
///     @shared {
///         thresholds = thresholds;
///     }
///     no_data = "No data." | "데이터가 없습니다.";
///     exit_code(code) = "exit code {code}" | "종료 코드 {code}";
/// }
/// ```
///
/// An entry of `@shared` has the texts of a catalogue's method without arguments. An argument that a text does not use, or an
/// unknown one, does not compile.
#[macro_export]
macro_rules! page_catalogue {
    (
        $(@shared { $($shared:ident = $method:ident;)* })?
        $($key:ident $(($($arg:ident),+ $(,)?))? = $en:literal | $ko:literal;)*
    ) => {
        pub(super) const TEXTS: &[$crate::page::PageText] = &[
            $($($crate::page::PageText {
                key: stringify!($shared),
                arguments: &[],
                english: $crate::Lang::En.$method(),
                korean: $crate::Lang::Ko.$method(),
            },)*)?
            $($crate::page::PageText {
                key: stringify!($key),
                arguments: &[$($(stringify!($arg)),+)?],
                english: $en,
                korean: $ko,
            },)*
        ];
        $($(
            const _: fn($($crate::page_catalogue!(@str $arg)),+) -> [String; 2] =
                |$($arg),+| [format!($en), format!($ko)];
        )?)*
    };
    (@str $arg:ident) => { &str };
}
