//! The greeting, encryption and the proof of the password.

use crypto::Hash;

use super::dsn::{Encryption, Place, Settings};
use super::packets::{Packet, Wire, malformed, push_counted};
use crate::BoxStream;
use crate::sql::SqlError;

const LONG_PASSWORD: u32 = 1;
const FOUND_ROWS: u32 = 2;
const LONG_FLAG: u32 = 4;
const CONNECT_WITH_DB: u32 = 8;
const PROTOCOL_41: u32 = 0x200;
const SSL: u32 = 0x800;
const TRANSACTIONS: u32 = 0x2000;
const SECURE_CONNECTION: u32 = 0x8000;
const MULTI_STATEMENTS: u32 = 0x1_0000;
const MULTI_RESULTS: u32 = 0x2_0000;
const PLUGIN_AUTH: u32 = 0x8_0000;
const PLUGIN_AUTH_LENENC: u32 = 0x20_0000;

/// `utf8mb4_general_ci`
const CHARACTER_SET: u8 = 45;

const NATIVE_PASSWORD: &str = "mysql_native_password";
const SHA2_PASSWORD: &str = "caching_sha2_password";
const CLEAR_PASSWORD: &str = "mysql_clear_password";
const ED25519: &str = "client_ed25519";

/// Bytes of the server's challenge.
const CHALLENGE_BYTES: usize = 20;

/// Rounds of a login before the server is taken for another one.
const ROUNDS_MAX: usize = 8;

/// The facts that a server sends about itself.
struct Greeting {
    capabilities: u32,
    challenge: Vec<u8>,
    plugin: String,
}

impl Greeting {
    fn read(packet: &Packet) -> Result<Greeting, SqlError> {
        packet.check()?;
        let mut reader = packet.reader();
        if reader.u8()? != 10 {
            return Err(malformed());
        }
        reader.terminated();
        reader.skip(4)?;
        let mut challenge = reader.take(8)?.to_vec();
        reader.skip(1)?;
        let low = reader.u16()?;
        reader.skip(3)?;
        let high = reader.u16()?;
        reader.skip(11)?;
        challenge.extend_from_slice(reader.take(CHALLENGE_BYTES - 8)?);
        let _zero = reader.u8();
        let plugin = String::from_utf8_lossy(reader.terminated()).into_owned();
        Ok(Greeting { capabilities: u32::from(low) | u32::from(high) << 16, challenge, plugin })
    }
}

/// Logs in over a connection. `encrypt` is asked where the settings and the server want it.
pub(super) async fn login(
    stream: BoxStream,
    settings: &Settings,
    encrypt: impl AsyncFnOnce(BoxStream) -> Result<BoxStream, String>,
) -> Result<Wire, SqlError> {
    let mut wire = Wire::new(stream);
    let greeting = Greeting::read(&wire.packet().await?)?;
    let is_local = matches!(settings.place, Place::Unix(_));
    let can_encrypt = greeting.capabilities & SSL != 0;
    let encrypts = match settings.encryption {
        Encryption::Off => false,
        Encryption::Preferred => can_encrypt && !is_local,
        _ if is_local => false,
        _ if can_encrypt => true,
        _ => {
            let text = "TLS requested but server does not support TLS; remove tls from the data source name";
            return Err(SqlError::Dial(text.to_owned()));
        }
    };
    let mut wanted = LONG_PASSWORD
        | LONG_FLAG
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_RESULTS
        | PLUGIN_AUTH
        | PLUGIN_AUTH_LENENC;
    for (is_wanted, capability) in [
        (settings.counts_found_rows, FOUND_ROWS),
        (settings.takes_several_statements, MULTI_STATEMENTS),
        (!settings.database.is_empty(), CONNECT_WITH_DB),
        (encrypts, SSL),
    ] {
        if is_wanted {
            wanted |= capability;
        }
    }
    let mut head = (wanted & (greeting.capabilities | CONNECT_WITH_DB)).to_le_bytes().to_vec();
    head.extend_from_slice(&(1_u32 << 24).to_le_bytes());
    head.push(CHARACTER_SET);
    head.extend_from_slice(&[0; 23]);
    if encrypts {
        wire.send(&head).await?;
        let (stream, number) = wire.into_parts();
        let stream = encrypt(stream).await.map_err(SqlError::Dial)?;
        wire = Wire::from_parts(stream, number);
    }
    let mut proof = Proof { settings, is_private: encrypts || is_local, challenge: greeting.challenge };
    let plugin = if greeting.plugin.is_empty() { NATIVE_PASSWORD.to_owned() } else { greeting.plugin };
    // A plugin that is not known here may be one of two that the server has for this user.
    let first = proof.first(&plugin).unwrap_or_default();
    let mut answer = head;
    answer.extend_from_slice(settings.user.as_bytes());
    answer.push(0);
    push_counted(&mut answer, &first);
    if !settings.database.is_empty() {
        answer.extend_from_slice(settings.database.as_bytes());
        answer.push(0);
    }
    answer.extend_from_slice(plugin.as_bytes());
    answer.push(0);
    wire.send(&answer).await?;
    proof.finish(&mut wire).await?;
    Ok(wire)
}

/// Proves to a server that the password is known.
struct Proof<'a> {
    settings: &'a Settings,
    /// Whether the connection is encrypted or local.
    is_private: bool,
    challenge: Vec<u8>,
}

impl Proof<'_> {
    /// The first answer to the challenge, as a plugin wants it.
    fn first(&self, plugin: &str) -> Result<Vec<u8>, SqlError> {
        let password = self.settings.password.as_bytes();
        if password.is_empty() && plugin != CLEAR_PASSWORD {
            return Ok(Vec::new());
        }
        match plugin {
            NATIVE_PASSWORD => Ok(native(password, &self.challenge)),
            SHA2_PASSWORD => Ok(sha2(password, &self.challenge)),
            CLEAR_PASSWORD if self.is_private => Ok([password, &[0]].concat()),
            CLEAR_PASSWORD => Err(SqlError::Dial(
                "the server wants the password in clear text, and the connection is not encrypted; add tls=true to \
                 the data source name"
                    .to_owned(),
            )),
            ED25519 => Err(SqlError::Dial(
                "the server's user logs in with ed25519, which is not supported; give the user a password of the \
                 kind mysql_native_password or caching_sha2_password"
                    .to_owned(),
            )),
            other => Err(SqlError::Dial(format!(
                "the server's user logs in with {other:?}, which is not supported; use mysql_native_password or \
                 caching_sha2_password"
            ))),
        }
    }

    /// Answers until the server is content.
    async fn finish(&mut self, wire: &mut Wire) -> Result<(), SqlError> {
        for _ in 0..ROUNDS_MAX {
            let packet = wire.packet().await?;
            packet.check().map_err(|error| match error {
                // The connection is of no use.
                SqlError::Refused(text) => SqlError::Lost(text),
                other => other,
            })?;
            match (packet.0.first(), packet.0.get(1)) {
                (Some(0), _) => return Ok(()),
                // Another plugin, with a challenge of its own.
                (Some(0xfe), _) => {
                    let mut reader = packet.reader();
                    reader.skip(1)?;
                    let plugin = String::from_utf8_lossy(reader.terminated()).into_owned();
                    let challenge = reader.0.strip_suffix(&[0]).unwrap_or(reader.0);
                    self.challenge = challenge.to_vec();
                    wire.send(&self.first(&plugin)?).await?;
                }
                // caching_sha2_password: the server remembers the user.
                (Some(1), Some(3)) => {}
                (Some(1), Some(4)) => {
                    let password = [self.settings.password.as_bytes(), &[0]].concat();
                    if self.is_private {
                        wire.send(&password).await?;
                    } else {
                        wire.send(&[2]).await?;
                        let key = wire.packet().await?;
                        key.check()?;
                        wire.send(&hidden(&password, &self.challenge, &key.0[1..])?).await?;
                    }
                }
                _ => return Err(malformed()),
            }
        }
        Err(malformed())
    }
}

fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other.iter().cycle()).map(|(one, other)| one ^ other).collect()
}

/// `SHA1(password) XOR SHA1(challenge + SHA1(SHA1(password)))`
fn native(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let once = Hash::Sha1.digest(password);
    let twice = Hash::Sha1.digest(&once);
    xor(&once, &Hash::Sha1.digest(&[challenge, &twice].concat()))
}

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + challenge)`
fn sha2(password: &[u8], challenge: &[u8]) -> Vec<u8> {
    let once = Hash::Sha256.digest(password);
    let twice = Hash::Sha256.digest(&once);
    xor(&once, &Hash::Sha256.digest(&[&twice, challenge].concat()))
}

/// The password for the holder of a key alone.
fn hidden(password: &[u8], challenge: &[u8], key_pem: &[u8]) -> Result<Vec<u8>, SqlError> {
    let invalid = || SqlError::Dial("the server's key for passwords is no RSA key in PEM".to_owned());
    let key = crypto::rsa::RsaPublic::from_pem(key_pem).map_err(|_| invalid())?;
    key.encrypt(Hash::Sha1, &[], &xor(password, challenge)).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Computed with Python's hashlib by the formulas of the protocol's documentation.
    #[test]
    fn proofs() {
        let challenge: Vec<u8> = (1..=20).collect();
        assert_eq!(hex(&native(b"secret", &challenge)), NATIVE);
        assert_eq!(hex(&sha2(b"secret", &challenge)), SHA2);
    }

    const NATIVE: &str = "b32bb3a583e1340c0a1108d58b1be49781ad8c2f";
    const SHA2: &str = "746ebe205d56a0707acb3e796e834e0dd7b1d61743b26bd5202c7a623230c7c9";
}
