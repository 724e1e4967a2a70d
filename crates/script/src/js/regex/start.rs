//! The units that a match of a compiled expression can begin with.
//!
//! The code is that of QuickJS's `libregexp` (`libregexp-opcode.h`): a header, then operations with operands. [`Start::read`]
//! follows every way from the first operation to one that takes a unit of the text, and collects the units that it takes. Whatever it
//! does not know, or cannot decide by units alone, means that a match may begin anywhere.

use memchr::memmem::Finder;

/// Bytes before the operations: flags (2), captures (1), registers (1), bytes of operations (4).
pub(super) const HEADER_BYTES: usize = 8;

const FLAG_UNICODE: u16 = 1 << 4;
const FLAG_UNICODE_SETS: u16 = 1 << 8;

/// The operations before those of an expression that is tried at every place: `.*?` in front of it.
const EVERY_PLACE: [u8; 11] = [op::SPLIT_GOTO_FIRST, 6, 0, 0, 0, op::ANY, op::GOTO, 0xf5, 0xff, 0xff, 0xff];

/// An expression that can begin with more units than this is left alone.
const UNITS_MAX: usize = 128;

/// Units in a group that is looked at at once, so that the compiler uses vector instructions.
const GROUP: usize = 32;

/// Operations by number.
mod op {
    pub(super) const CHAR: u8 = 1;
    pub(super) const CHAR_I: u8 = 2;
    pub(super) const CHAR32: u8 = 3;
    pub(super) const CHAR32_I: u8 = 4;
    pub(super) const ANY: u8 = 6;
    pub(super) const SPACE: u8 = 7;
    pub(super) const LINE_START: u8 = 9;
    pub(super) const LINE_END_M: u8 = 12;
    pub(super) const GOTO: u8 = 13;
    pub(super) const SPLIT_GOTO_FIRST: u8 = 14;
    pub(super) const SPLIT_NEXT_FIRST: u8 = 15;
    pub(super) const SAVE_START: u8 = 19;
    pub(super) const SAVE_END: u8 = 20;
    pub(super) const SAVE_RESET: u8 = 21;
    pub(super) const LOOP: u8 = 22;
    pub(super) const LOOP_SPLIT_GOTO_FIRST: u8 = 23;
    pub(super) const LOOP_CHECK_ADVANCE_SPLIT_NEXT_FIRST: u8 = 26;
    pub(super) const SET_I32: u8 = 27;
    pub(super) const WORD_BOUNDARY: u8 = 28;
    pub(super) const NOT_WORD_BOUNDARY_I: u8 = 31;
    pub(super) const RANGE: u8 = 36;
    pub(super) const RANGE_I: u8 = 37;
    pub(super) const RANGE32: u8 = 38;
    pub(super) const RANGE32_I: u8 = 39;
    pub(super) const LOOKAHEAD: u8 = 40;
    pub(super) const NEGATIVE_LOOKAHEAD: u8 = 41;
    pub(super) const SET_CHAR_POS: u8 = 42;
    pub(super) const CHECK_ADVANCE: u8 = 43;
}

/// The canonical form of a unit where case does not count, and whether the expression is a Unicode one.
pub(super) type Canonical<'a> = &'a dyn Fn(u32, bool) -> u32;

/// The units that a match can begin with.
#[derive(Debug)]
pub(super) struct Start {
    is_unicode: bool,
    /// Units below 256.
    narrow: [bool; 256],
    /// The same units, if they are three at most.
    few: Vec<u8>,
    /// Whether a unit from 256 on can begin a match.
    is_wide: bool,
    /// The units that every match begins with, if they are two or more, all of them below 256.
    literal: Option<Finder<'static>>,
}

/// Bytes of the whole code, header included.
pub(super) fn code_bytes(header: &[u8]) -> Option<usize> {
    let bytes = u32::from_le_bytes(header.get(4..HEADER_BYTES)?.try_into().ok()?);
    HEADER_BYTES.checked_add(bytes as usize)
}

/// Captures, the whole match included.
pub(super) fn captures(header: &[u8]) -> u8 {
    header.get(2).copied().unwrap_or(0)
}

/// The code without the operations that try it at every place; `None` if it has none, as a sticky expression.
pub(super) fn anchored(code: &[u8]) -> Option<Vec<u8>> {
    let (header, operations) = code.split_at_checked(HEADER_BYTES)?;
    let rest = operations.strip_prefix(&EVERY_PLACE)?;
    let mut anchored = [header, rest].concat();
    anchored[4..HEADER_BYTES].copy_from_slice(&u32::try_from(rest.len()).ok()?.to_le_bytes());
    Some(anchored)
}

impl Start {
    /// Reads it from code that is tried at one place; `None` if a match may begin anywhere.
    pub(super) fn read(anchored: &[u8], canonical: Canonical<'_>) -> Option<Start> {
        let flags = u16::from_le_bytes(anchored.get(..2)?.try_into().ok()?);
        let is_unicode = flags & (FLAG_UNICODE | FLAG_UNICODE_SETS) != 0;
        let operations = Operations(anchored.get(HEADER_BYTES..)?);
        let units = operations.first_units(&|unit| canonical(unit, is_unicode))?;
        let narrow = units.narrow;
        let members: Vec<u8> = (0..=u8::MAX).filter(|unit| narrow[usize::from(*unit)]).collect();
        if members.len() > UNITS_MAX {
            return None;
        }
        let literal = operations.literal();
        Some(Start {
            is_unicode,
            narrow,
            few: if members.len() <= 3 { members } else { Vec::new() },
            is_wide: units.is_wide,
            literal: (literal.len() > 1).then(|| Finder::new(&literal).into_owned()),
        })
    }

    /// Whether the expression takes pairs of surrogates as one unit.
    pub(super) fn is_unicode(&self) -> bool {
        self.is_unicode
    }

    /// Units by which parts of a text have to overlap that are searched one after the other.
    pub(super) fn overlap(&self) -> usize {
        self.literal.as_ref().map_or(0, |literal| literal.needle().len() - 1)
    }

    /// The first place of a text with one byte per unit where a match can begin.
    pub(super) fn find(&self, text: &[u8]) -> Option<usize> {
        if let Some(literal) = &self.literal {
            return literal.find(text);
        }
        match *self.few {
            [one] => memchr::memchr(one, text),
            [one, two] => memchr::memchr2(one, two, text),
            [one, two, three] => memchr::memchr3(one, two, three, text),
            _ => text.iter().position(|unit| self.narrow[usize::from(*unit)]),
        }
    }

    /// The same with two bytes per unit.
    pub(super) fn find_wide(&self, text: &[u16]) -> Option<usize> {
        if self.is_wide {
            return text.iter().position(|unit| u8::try_from(*unit).is_err() || self.is_narrow(*unit));
        }
        if let Some(literal) = &self.literal {
            return find_literal(literal.needle(), text);
        }
        match *self.few {
            [one] => position(text, |unit| unit == u16::from(one)),
            _ => text.iter().position(|unit| self.is_narrow(*unit)),
        }
    }

    fn is_narrow(&self, unit: u16) -> bool {
        self.narrow.get(usize::from(unit)).copied().unwrap_or(false)
    }
}

fn find_literal(literal: &[u8], text: &[u16]) -> Option<usize> {
    let first = u16::from(*literal.first()?);
    let is_here = |text: &[u16]| {
        let here = text.get(..literal.len())?;
        here.iter().zip(literal).all(|(unit, byte)| *unit == u16::from(*byte)).then_some(())
    };
    let mut at = 0;
    loop {
        at += position(text.get(at..)?, |unit| unit == first)?;
        if is_here(&text[at..]).is_some() {
            return Some(at);
        }
        at += 1;
    }
}

/// As `Iterator::position`, by groups.
fn position(text: &[u16], is_wanted: impl Fn(u16) -> bool) -> Option<usize> {
    let groups = text.chunks(GROUP);
    let has = |group: &[u16]| group.iter().fold(false, |has, unit| has | is_wanted(*unit));
    let (number, group) = groups.enumerate().find(|(_, group)| has(group))?;
    let within = group.iter().position(|unit| is_wanted(*unit))?;
    Some(number * GROUP + within)
}

struct Units {
    narrow: [bool; 256],
    is_wide: bool,
}

impl Units {
    fn add(&mut self, is_taken: impl Fn(u32) -> bool) {
        for (unit, is_in) in (0..).zip(&mut self.narrow) {
            *is_in |= is_taken(unit);
        }
    }
}

/// The operations of an expression.
#[derive(Clone, Copy)]
struct Operations<'a>(&'a [u8]);

impl Operations<'_> {
    /// The units that the first operations which take one can take; `None` if a match can do without one, or if the units are unknown.
    fn first_units(self, canonical: &dyn Fn(u32) -> u32) -> Option<Units> {
        let mut units = Units { narrow: [false; 256], is_wide: false };
        let mut seen = vec![false; self.0.len()];
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            if std::mem::replace(seen.get_mut(at)?, true) {
                continue;
            }
            let operation = self.0[at];
            let operands = at + 1;
            match operation {
                op::CHAR => units.take(u32::from(self.u16(operands)?)),
                op::CHAR32 => units.take(self.u32(operands)?),
                op::CHAR_I => units.take_folded(u32::from(self.u16(operands)?), canonical),
                op::CHAR32_I => units.take_folded(self.u32(operands)?, canonical),
                op::SPACE => {
                    units.add(|unit| matches!(unit, 0x09..=0x0d | 0x20 | 0xa0));
                    units.is_wide = true;
                }
                op::RANGE | op::RANGE_I | op::RANGE32 | op::RANGE32_I => {
                    self.range(operation, operands, &mut units, canonical)?;
                }
                op::LINE_START..=op::LINE_END_M | op::WORD_BOUNDARY..=op::NOT_WORD_BOUNDARY_I => {
                    open.push(operands)
                }
                op::SAVE_START | op::SAVE_END | op::SET_CHAR_POS | op::CHECK_ADVANCE => {
                    open.push(operands + 1)
                }
                op::SAVE_RESET => open.push(operands + 2),
                op::SET_I32 => open.push(operands + 5),
                op::GOTO => open.push(self.target(operands, operands + 4)?),
                op::SPLIT_GOTO_FIRST | op::SPLIT_NEXT_FIRST => {
                    open.extend([operands + 4, self.target(operands, operands + 4)?]);
                }
                // What is looked for ahead or behind is not taken, and the rest is tried at the same place.
                op::LOOKAHEAD | op::NEGATIVE_LOOKAHEAD => open.push(self.target(operands, operands + 4)?),
                op::LOOP => open.extend([operands + 5, self.target(operands + 1, operands + 5)?]),
                op::LOOP_SPLIT_GOTO_FIRST..=op::LOOP_CHECK_ADVANCE_SPLIT_NEXT_FIRST => {
                    open.extend([operands + 9, self.target(operands + 5, operands + 9)?]);
                }
                // The end of the expression, units of all kinds, what a capture holds, and operations of another version.
                _ => return None,
            }
        }
        Some(units)
    }

    /// The units that follow each other at the beginning, each of them the only one at its place.
    fn literal(self) -> Vec<u8> {
        let mut literal = Vec::new();
        let mut at = 0;
        loop {
            match self.0.get(at) {
                Some(&op::SAVE_START) => at += 2,
                Some(&op::CHAR) => {
                    let Some(unit) = self.u16(at + 1).and_then(|unit| u8::try_from(unit).ok()) else { break };
                    literal.push(unit);
                    at += 3;
                }
                _ => break,
            }
        }
        literal
    }

    /// Adds the units of ranges: how many (2 bytes), then the first and last unit of each, 2 or 4 bytes.
    fn range(
        self,
        operation: u8,
        at: usize,
        units: &mut Units,
        canonical: &dyn Fn(u32) -> u32,
    ) -> Option<()> {
        let is_folded = matches!(operation, op::RANGE_I | op::RANGE32_I);
        let width = if matches!(operation, op::RANGE | op::RANGE_I) { 2 } else { 4 };
        let unit = |at| if width == 2 { self.u16(at).map(u32::from) } else { self.u32(at) };
        for number in 0..usize::from(self.u16(at)?) {
            let from = at + 2 + number * 2 * width;
            let (first, last) = (unit(from)?, unit(from + width)?);
            let is_in = |unit: u32| (first..=last).contains(&unit);
            if is_folded {
                units.add(|unit| is_in(canonical(unit)));
            } else {
                units.add(is_in);
            }
            units.is_wide |= is_folded || last > 0xff;
        }
        Some(())
    }

    /// Where a jump leads whose distance stands at `at`, counted from `behind`.
    fn target(self, at: usize, behind: usize) -> Option<usize> {
        behind.checked_add_signed(self.u32(at)?.cast_signed() as isize)
    }

    fn u16(self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.0.get(at..at + 2)?.try_into().ok()?))
    }

    fn u32(self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }
}

impl Units {
    fn take(&mut self, unit: u32) {
        self.add(|one| one == unit);
        self.is_wide |= unit > 0xff;
    }

    /// Takes every unit with this canonical form. Some from 256 on may have it too.
    fn take_folded(&mut self, canonical_unit: u32, canonical: &dyn Fn(u32) -> u32) {
        self.add(|unit| canonical(unit) == canonical_unit);
        self.is_wide = true;
    }
}
