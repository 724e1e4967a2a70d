//! Certificates (RFC 5280), as k6's `k6/crypto/x509` shows them.

use x509_parser::asn1_rs::{Any, Oid, oid};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::Pem;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey as Parsed;
use x509_parser::time::ASN1Time;
use x509_parser::x509::{SubjectPublicKeyInfo, X509Name};

use crate::{Curve, EcPublic, Error, Hash, Point, Result};

/// A certificate's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Whose it is.
    pub subject: Name,
    /// The issuer.
    pub issuer: Name,
    /// Since when it holds, as RFC 3339 writes it, in UTC.
    pub not_before: String,
    /// Until when.
    pub not_after: String,
    /// Its names: those of the DNS, addresses of e-mail, of the IP, URIs.
    pub alt_names: Vec<String>,
    /// With what it was signed, in the words of Go, which k6 is written in.
    pub signature_algorithm: &'static str,
    /// SHA-1 of the whole.
    pub fingerprint: Vec<u8>,
    /// Its key; `None` for kinds of key that k6 does not show.
    pub public_key: Option<PublicKey>,
}

/// Whose certificate, or who signed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// CN, the last one.
    pub common_name: String,
    /// C
    pub country: String,
    /// Postal code
    pub postal_code: String,
    /// ST
    pub state_or_province: String,
    /// L
    pub locality: String,
    /// Street
    pub street_address: String,
    /// O, the first one.
    pub organization: String,
    /// OU, all of them.
    pub organizational_units: Vec<String>,
    /// All of its parts: object identifier and value.
    pub parts: Vec<(String, String)>,
}

/// A certificate's key; numbers are high bytes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// RSA
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The public exponent.
        e: u64,
    },
    /// ECDSA
    Ecdsa {
        /// Its curve.
        curve: Curve,
        /// The key.
        point: Point,
    },
    /// DSA
    Dsa {
        /// The prime.
        p: Vec<u8>,
        /// The order of the subgroup.
        q: Vec<u8>,
        /// The generator.
        g: Vec<u8>,
        /// The key.
        y: Vec<u8>,
    },
}

/// Reads the first certificate of a text in PEM; what stands around it does not matter.
///
/// # Errors
/// There is none, or it is malformed.
pub fn parse(pem: &[u8]) -> Result<Certificate> {
    let block =
        Pem::iter_from_buffer(pem).next().and_then(std::result::Result::ok).ok_or(Error::NoCertificate)?;
    let (rest, certificate) = X509Certificate::from_der(&block.contents).map_err(|_| Error::Certificate)?;
    if !rest.is_empty() {
        return Err(Error::Certificate);
    }
    Ok(Certificate {
        subject: name(certificate.subject()),
        issuer: name(certificate.issuer()),
        not_before: time(certificate.validity().not_before),
        not_after: time(certificate.validity().not_after),
        alt_names: alt_names(&certificate),
        signature_algorithm: signature_algorithm(&certificate.signature_algorithm.algorithm),
        fingerprint: Hash::Sha1.digest(&block.contents),
        public_key: public_key(certificate.public_key()),
    })
}

fn time(time: ASN1Time) -> String {
    let at = time.to_datetime();
    let (date, clock) = (at.date(), at.time());
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second()
    )
}

fn name(name: &X509Name<'_>) -> Name {
    let mut read = Name::default();
    for attribute in name.iter_attributes() {
        let oid = attribute.attr_type().to_id_string();
        let Some(value) = text(attribute.attr_value()) else { continue };
        let first = |field: &mut String| {
            if field.is_empty() {
                field.clone_from(&value);
            }
        };
        match oid.as_str() {
            "2.5.4.3" => read.common_name.clone_from(&value),
            "2.5.4.6" => first(&mut read.country),
            "2.5.4.7" => first(&mut read.locality),
            "2.5.4.8" => first(&mut read.state_or_province),
            "2.5.4.9" => first(&mut read.street_address),
            "2.5.4.10" => first(&mut read.organization),
            "2.5.4.11" => read.organizational_units.push(value.clone()),
            "2.5.4.17" => first(&mut read.postal_code),
            _ => {}
        }
        read.parts.push((oid, value));
    }
    read
}

/// Two of the kinds of string are not what their bytes look like.
fn text(value: &Any<'_>) -> Option<String> {
    const BMP_STRING: u32 = 30;
    if value.tag().0 == BMP_STRING {
        let units: Vec<u16> =
            value.data.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        return Some(String::from_utf16_lossy(&units));
    }
    std::str::from_utf8(value.data).ok().map(str::to_owned)
}

fn alt_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let names = certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectAlternativeName(names) => Some(&names.general_names),
        _ => None,
    });
    let mut sorted: Vec<(u8, String)> = names.into_iter().flatten().filter_map(alt_name).collect();
    // Stable: within a kind they keep the certificate's order.
    sorted.sort_by_key(|(kind, _)| *kind);
    sorted.into_iter().map(|(_, name)| name).collect()
}

fn alt_name(name: &GeneralName<'_>) -> Option<(u8, String)> {
    Some(match name {
        GeneralName::DNSName(name) => (0, (*name).to_owned()),
        GeneralName::RFC822Name(name) => (1, (*name).to_owned()),
        GeneralName::IPAddress(bytes) => (2, address(bytes)?),
        GeneralName::URI(uri) => (3, (*uri).to_owned()),
        _ => return None,
    })
}

fn address(bytes: &[u8]) -> Option<String> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Some(std::net::Ipv4Addr::from(v4).to_string());
    }
    <[u8; 16]>::try_from(bytes).ok().map(|v6| std::net::Ipv6Addr::from(v6).to_string())
}

/// Go's names of the algorithms it knows; it shows the others as the number 0.
fn signature_algorithm(algorithm: &Oid<'_>) -> &'static str {
    const NAMES: &[(Oid<'_>, &str)] = &[
        (oid!(1.2.840.113549.1.1.2), "MD2-RSA"),
        (oid!(1.2.840.113549.1.1.4), "MD5-RSA"),
        (oid!(1.2.840.113549.1.1.5), "SHA1-RSA"),
        (oid!(1.2.840.113549.1.1.11), "SHA256-RSA"),
        (oid!(1.2.840.113549.1.1.12), "SHA384-RSA"),
        (oid!(1.2.840.113549.1.1.13), "SHA512-RSA"),
        (oid!(1.2.840.10040.4.3), "DSA-SHA1"),
        (oid!(2.16.840.1.101.3.4.3.2), "DSA-SHA256"),
        (oid!(1.2.840.10045.4.1), "ECDSA-SHA1"),
        (oid!(1.2.840.10045.4.3.2), "ECDSA-SHA256"),
        (oid!(1.2.840.10045.4.3.3), "ECDSA-SHA384"),
        (oid!(1.2.840.10045.4.3.4), "ECDSA-SHA512"),
        (oid!(1.3.101.112), "Ed25519"),
    ];
    NAMES.iter().find(|(oid, _)| oid == algorithm).map_or("0", |(_, name)| *name)
}

fn public_key(info: &SubjectPublicKeyInfo<'_>) -> Option<PublicKey> {
    match info.parsed().ok()? {
        Parsed::RSA(key) => {
            Some(PublicKey::Rsa { n: unsigned(key.modulus).to_vec(), e: key.try_exponent().ok()? })
        }
        Parsed::EC(point) => {
            let curve = curve(&info.algorithm.parameters.as_ref()?.as_oid().ok()?)?;
            let point = EcPublic::from_raw(curve, point.data()).ok()?.to_point();
            Some(PublicKey::Ecdsa { curve, point })
        }
        Parsed::DSA(y) => {
            let parameters = info.algorithm.parameters.as_ref()?;
            let (rest, p) = Any::from_der(parameters.data).ok()?;
            let (rest, q) = Any::from_der(rest).ok()?;
            let (_, g) = Any::from_der(rest).ok()?;
            let [p, q, g, y] = [p.data, q.data, g.data, y].map(|number| unsigned(number).to_vec());
            Some(PublicKey::Dsa { p, q, g, y })
        }
        _ => None,
    }
}

fn curve(oid: &Oid<'_>) -> Option<Curve> {
    Some(match oid.to_id_string().as_str() {
        "1.2.840.10045.3.1.7" => Curve::P256,
        "1.3.132.0.34" => Curve::P384,
        "1.3.132.0.35" => Curve::P521,
        _ => return None,
    })
}

/// Without the zero that keeps a number from being negative.
fn unsigned(number: &[u8]) -> &[u8] {
    number.strip_prefix(&[0]).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSA: &[u8] = include_bytes!("../../../conformance/cases/fixtures/x509/rsa.pem");

    #[test]
    fn a_broken_certificate_is_an_error() {
        let der = Pem::iter_from_buffer(RSA).next().unwrap().unwrap().contents;
        for length in 0..der.len() {
            assert!(X509Certificate::from_der(&der[..length]).is_err(), "{length} bytes");
        }
        for (text, expect) in [
            (&b""[..], Error::NoCertificate),
            (b"-----BEGIN CERTIFICATE-----\n", Error::NoCertificate),
            (b"-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n", Error::NoCertificate),
            (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", Error::Certificate),
        ] {
            assert_eq!(parse(text), Err(expect), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn no_changed_byte_panics() {
        let text = String::from_utf8_lossy(RSA);
        for at in (30..RSA.len() - 30).step_by(7) {
            let mut changed = text.as_bytes().to_vec();
            changed[at] = if changed[at] == b'A' { b'Q' } else { b'A' };
            // Whether it is an error depends on the byte.
            let _ = parse(&changed);
        }
    }
}
