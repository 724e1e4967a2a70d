//! Every sentence that users read, in English and Korean side by side.
//!
//! Other crates hand over data: a claim with its numbers, the kind of missing evidence, a label's key. This crate turns it into text.
//! Messages are matched exhaustively, so a new kind of claim does not compile until it has words in every language. The crate knows
//! nothing of where its texts are shown: no styles, no escaping, no I/O.
//!
//! Errors stay beside the code that returns them (typed, English): they are read by the person who typed the command.

#[cfg(test)]
mod agreement;
pub mod audit;
pub mod diagnosis;
mod lang;
mod macros;
pub mod page;
pub mod report;
#[cfg(test)]
mod testing;
pub mod validity;

pub use lang::Lang;

#[cfg(test)]
mod tests {
    use super::Lang;
    use crate::text;

    #[allow(unreachable_pub, reason = "a catalogue of tests is private")]
    mod greetings {
        crate::catalogue! {
            plain = "runs" | "실행";
            counted(count) = "{count} runs" | "실행 {count}개";
        }
    }

    #[test]
    fn a_message_is_in_the_language_asked_for() {
        assert_eq!([Lang::En.plain(), Lang::Ko.plain()], ["runs", "실행"]);
        assert_eq!([Lang::En.counted(3), Lang::Ko.counted(3)], ["3 runs", "실행 3개"]);
        let count = 3;
        assert_eq!(text!(Lang::Ko, "{count} runs", "실행 {count}개"), "실행 3개");
        assert_eq!(greetings::ALL.len(), 2);
    }

    #[test]
    fn languages_are_found_by_their_codes() {
        for lang in Lang::ALL {
            assert_eq!(Lang::parse(lang.code()), Some(lang));
        }
        assert_eq!(Lang::parse("xx"), None);
    }
}
