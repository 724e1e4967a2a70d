//! Addresses, programs and messages of the Internet.

use super::{Function, Parameter, given, number, optional, pick, text};
use crate::lists::pick as draw_from;
use crate::random::Draw;

const IMAGE: &[Parameter] = &[optional("width", "500"), optional("height", "500")];
const PASSWORD: &[Parameter] = &[
    optional("lower", "true"),
    optional("upper", "true"),
    optional("numeric", "true"),
    optional("special", "true"),
    optional("space", "false"),
    optional("length", "12"),
];

/// Letters of a password.
const PASSWORD_MAX: i64 = 1_000_000;

pub(super) const FUNCTIONS: &[Function] = &[
    text("chromeUserAgent", chrome),
    text("domainName", domain_name),
    pick("domainSuffix", "internet.domain_suffix"),
    text("firefoxUserAgent", firefox),
    pick("httpMethod", "internet.http_method"),
    number("httpStatusCode", |draw| status(draw, "internet.http_status_general")),
    number("httpStatusCodeSimple", |draw| status(draw, "internet.http_status_simple")),
    pick("httpVersion", "internet.http_version"),
    given("imageUrl", IMAGE, |_, given| {
        let (width, height) =
            (given.count(0, "image width", 10, 999)?, given.count(1, "image height", 10, 999)?);
        Ok(image_url(width, height).into())
    }),
    pick("inputName", "html.input_name"),
    text("ipv4Address", |draw| {
        let parts: Vec<String> = (0..4).map(|_| draw.below(256).to_string()).collect();
        parts.join(".")
    }),
    text("ipv6Address", |draw| {
        let parts: Vec<String> = (0..8).map(|_| format!("{:x}", draw.below(65_536))).collect();
        parts.join(":")
    }),
    pick("logLevel", "log_level.general"),
    text("macAddress", |draw| {
        let parts: Vec<String> = (0..6).map(|_| format!("{:02x}", draw.below(255))).collect();
        parts.join(":")
    }),
    text("operaUserAgent", opera),
    given("password", PASSWORD, |draw, given| {
        let mut kinds = [false; 5];
        for (index, kind) in kinds.iter_mut().enumerate() {
            *kind = given.parsed(index)?;
        }
        let length = given.count(5, "length", i64::MIN, PASSWORD_MAX)?;
        Ok(password(draw, kinds, length).into())
    }),
    text("safariUserAgent", safari),
    text("url", url),
    text("userAgent", |draw| match draw.between(0, 4) {
        1 => firefox(draw),
        2 => safari(draw),
        3 => opera(draw),
        _ => chrome(draw),
    }),
    text("username", |draw| format!("{}{}", draw_from(draw, "person.last"), draw.digits("####"))),
];

/// Letters by kind, and the share of the kind: lower, upper, numeric, special, space.
const KINDS: [(&str, f32); 5] = [
    ("abcdefghijklmnopqrstuvwxyz", 4.0),
    ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 4.0),
    ("0123456789", 3.0),
    ("@#$&?!-_*.", 2.0),
    (" ", 1.0),
];

/// A password of at least five letters of the kinds that are set; of the first three where none is.
pub(super) fn password(draw: &mut Draw, kinds: [bool; 5], length: i64) -> String {
    let chosen = |(_, is_set): &(_, bool)| *is_set;
    let mut used: Vec<(&str, f32)> =
        KINDS.into_iter().zip(kinds).filter(chosen).map(|(kind, _)| kind).collect();
    if used.is_empty() {
        used.extend(&KINDS[..3]);
    }
    let weights: Vec<f32> = used.iter().map(|(_, weight)| *weight).collect();
    let mut letters: Vec<char> = (0..length.max(5))
        .map(|_| {
            let kind = draw.weighted(&weights);
            draw.letter_of(used[kind].0)
        })
        .collect();
    draw.shuffle_forwards(&mut letters);
    // No space at either end, where there are other letters.
    let without_space = [kinds[0], kinds[1], kinds[2], kinds[3], false];
    let last = letters.len() - 1;
    for end in [0, last] {
        if letters[end] == ' ' {
            letters[end] = password(draw, without_space, 1).chars().next().unwrap_or('a');
        }
    }
    letters.into_iter().collect()
}

pub(super) fn image_url(width: i64, height: i64) -> String {
    format!("https://picsum.photos/{width}/{height}")
}

fn status(draw: &mut Draw, list: &str) -> f64 {
    draw_from(draw, list).parse().unwrap_or_default()
}

fn domain_name(draw: &mut Draw) -> String {
    let (descriptor, bs) = (draw_from(draw, "job.descriptor"), draw_from(draw, "company.bs"));
    let name = format!("{descriptor}{bs}").to_lowercase().replace(' ', "");
    format!("{name}.{}", draw_from(draw, "internet.domain_suffix"))
}

fn url(draw: &mut Draw) -> String {
    let count = draw.between(1, 4);
    let parts: Vec<&str> = (0..count).map(|_| draw_from(draw, "company.bs")).collect();
    let scheme = draw.one_of(&["https", "http"]);
    let domain = domain_name(draw);
    format!("{scheme}://www.{domain}/{}", parts.join("/").to_lowercase()).replace(' ', "")
}

fn chrome(draw: &mut Draw) -> String {
    let engine = format!("{}{}", draw.between(531, 536), draw.between(0, 2));
    let (major, build) = (draw.between(36, 40), draw.between(800, 899));
    let platform = platform(draw);
    format!(
        "Mozilla/5.0 ({platform}) AppleWebKit/{engine} (KHTML, like Gecko) Chrome/{major}.0.{build}.0 Mobile Safari/{engine}"
    )
}

fn firefox(draw: &mut Draw) -> String {
    let date = super::time::moment(draw).layout("2006-01-02");
    let version = format!("Gecko/{date} Firefox/{}.0", draw.between(35, 37));
    let platforms = [
        format!("({}; en-US; rv:1.9.{}.20) {version}", windows(draw), draw.between(0, 3)),
        format!("({}; rv:{}.0) {version}", linux(draw), draw.between(5, 8)),
        format!("({} rv:{}.0) {version}", mac(draw), draw.between(2, 7)),
    ];
    format!("Mozilla/5.0 {}", platforms[draw.below(platforms.len())])
}

fn safari(draw: &mut Draw) -> String {
    let engine = format!("{}.{}.{}", draw.between(531, 536), draw.between(1, 51), draw.between(1, 8));
    let version = format!("{}.{}", draw.between(4, 6), draw.between(0, 2));
    let webkit = format!("AppleWebKit/{engine} (KHTML, like Gecko) Version/");
    let platforms = [
        format!("(Windows; U; {}) {webkit}{version} Safari/{engine}", windows(draw)),
        format!("({} rv:{}.0; en-US) {webkit}{version} Safari/{engine}", mac(draw), draw.between(4, 7)),
        format!(
            "({} {}_{}_{} like Mac OS X; en-US) {webkit}{}.0.5 Mobile/8B{} Safari/6{engine}",
            draw.one_of(&["iPhone; CPU iPhone OS", "iPad; CPU OS"]),
            draw.between(7, 9),
            draw.between(0, 3),
            draw.between(1, 3),
            draw.between(3, 5),
            draw.between(111, 120),
        ),
    ];
    format!("Mozilla/5.0 {}", platforms[draw.below(platforms.len())])
}

fn opera(draw: &mut Draw) -> String {
    let platform = platform(draw);
    let platform = format!(
        "({platform}; en-US) Presto/2.{}.{} Version/{}.00",
        draw.between(8, 13),
        draw.between(160, 355),
        draw.between(10, 13)
    );
    format!("Opera/{}.{} {platform}", draw.between(8, 10), draw.between(10, 99))
}

fn platform(draw: &mut Draw) -> String {
    let platforms = [linux(draw), mac(draw), windows(draw)];
    platforms[draw.below(platforms.len())].clone()
}

fn linux(draw: &mut Draw) -> String {
    format!("X11; Linux {}", draw_from(draw, "computer.linux_processor"))
}

fn mac(draw: &mut Draw) -> String {
    let processor = draw_from(draw, "computer.mac_processor");
    format!("Macintosh; {processor} Mac OS X 10_{}_{}", draw.between(5, 9), draw.between(0, 10))
}

fn windows(draw: &mut Draw) -> String {
    draw_from(draw, "computer.windows_platform").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FakerError, Value};

    #[test]
    fn passwords_have_the_kinds_that_are_set() {
        let mut draw = Draw::new(1);
        for _ in 0..200 {
            let spaced = password(&mut draw, [true, false, false, false, true], 8);
            assert!(spaced.len() == 8 && spaced.trim() == spaced, "{spaced:?}");
            assert!(password(&mut draw, [false, false, true, false, false], 1).parse::<u32>().is_ok());
        }
        let given = |length: &str| {
            let mut arguments = vec![crate::Argument::One("true".to_owned()); 5];
            arguments.push(crate::Argument::One(length.to_owned()));
            let function = crate::function("password").expect("it exists");
            crate::Faker::new(1).call(function, &arguments, 0)
        };
        assert!(matches!(given("1000001"), Err(FakerError::Argument(text)) if text.contains("1000000")));
        assert!(matches!(given("7"), Ok(Value::Text(text)) if text.len() == 7));
    }
}
