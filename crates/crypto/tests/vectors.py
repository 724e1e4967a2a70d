#!/usr/bin/env python3
"""Makes `vectors.txt`: what another implementation (Python's `hashlib`, and `cryptography` on OpenSSL) answers.

    python3 vectors.py > vectors.txt

A line is an operation and its arguments, the expected answer last; bytes are hexadecimal, `-` is empty. Keys and
messages come from a seeded generator; the keys of RSA are made anew each time, and so are signatures with a nonce.
"""

import hashlib
import hmac
import random

from cryptography.hazmat.primitives import hashes, keywrap, padding, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SEED = random.Random(20)
DIGESTS = ["md5", "sha1", "sha256", "sha384", "sha512", "sha512_224", "sha512_256", "ripemd160"]
SHA = {"SHA-1": hashes.SHA1, "SHA-256": hashes.SHA256, "SHA-384": hashes.SHA384, "SHA-512": hashes.SHA512}
CURVES = {"P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1}


def some(count):
    return SEED.randbytes(count)


def line(*words):
    print(*((word.hex() or "-") if isinstance(word, bytes) else word for word in words))


def digests():
    for name in DIGESTS:
        for count in (0, 3, 64, 200):
            message, key = some(count), some(count + 1)
            line("digest", name, message, hashlib.new(name, message).digest())
            line("hmac", name, key, message, hmac.new(key, message, name).digest())


def ciphers():
    for key_bytes in (16, 24, 32):
        for count in (0, 1, 16, 47):
            key, iv, text, added = some(key_bytes), some(16), some(count), some(count)
            padder = padding.PKCS7(128).padder()
            encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
            padded = padder.update(text) + padder.finalize()
            line("cbc", key, iv, text, encryptor.update(padded) + encryptor.finalize())
            start = bytes(8) + b"\xff" * 7 + bytes([SEED.randrange(256)])
            encryptor = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()
            line("ctr", key, start, "128", text, encryptor.update(text) + encryptor.finalize())
            for iv_bytes, tag_bytes in ((12, 16), (8, 12), (16, 4), (60, 13)):
                iv = some(iv_bytes)
                encryptor = Cipher(algorithms.AES(key), modes.GCM(iv)).encryptor()
                encryptor.authenticate_additional_data(added)
                sealed = encryptor.update(text) + encryptor.finalize() + encryptor.tag[:tag_bytes]
                line("gcm", key, iv, added, tag_bytes * 8, text, sealed)
        key, text = some(key_bytes), some(32)
        line("wrap", key, text, keywrap.aes_key_wrap(key, text))
        ctr_wraps(some(key_bytes))


def ctr_wraps(key):
    """A counter of 4 bits that wraps: block by block with ECB, as SP 800-38A draws it."""
    block, text = some(15) + b"\x5e", some(61)
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    stream = b""
    for index in range(4):
        low = (block[15] & 15) + index & 15
        stream += encryptor.update(block[:15] + bytes([block[15] & 0xF0 | low]))
    line("ctr", key, block, "4", text, bytes(a ^ b for a, b in zip(text, stream)))


def derived():
    for name, kind in SHA.items():
        password, salt, info = some(9), some(16), some(5)
        plain = name.replace("-", "").lower()
        for iterations, count in ((1, 20), (1000, 70)):
            bits = hashlib.pbkdf2_hmac(plain, password, salt, iterations, count)
            line("pbkdf2", name, password, salt, iterations, bits)
        line("hkdf", name, password, salt, info, HKDF(kind(), 50, salt, info).derive(password))


def der(key):
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, plain)


def spki(key):
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def curves():
    for name, kind in CURVES.items():
        own, other = ec.generate_private_key(kind()), ec.generate_private_key(kind())
        half = (own.key_size + 7) // 8
        point = other.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        line("agree", name, der(own), spki(other.public_key()), point, own.exchange(ec.ECDH(), other.public_key()))
        for hash_name, hash_kind in SHA.items():
            message = some(30)
            signed = own.sign(message, ec.ECDSA(hash_kind()))
            signature = b"".join(number.to_bytes(half, "big") for number in decode_dss_signature(signed))
            line("ecdsa", name, hash_name, der(own), spki(own.public_key()), message, signature)


def edwards():
    own, other = x25519.X25519PrivateKey.generate(), x25519.X25519PrivateKey.generate()
    line("x25519", der(own), spki(other.public_key()), own.exchange(other.public_key()))
    key, message = ed25519.Ed25519PrivateKey.generate(), some(40)
    line("ed25519", der(key), spki(key.public_key()), message, key.sign(message))


def rsas():
    key = rsa.generate_private_key(65537, 2048)
    numbers = key.private_numbers()
    public = numbers.public_numbers
    parts = [public.n, public.e, numbers.d, numbers.p, numbers.q, numbers.dmp1, numbers.dmq1, numbers.iqmp]
    parts = [part.to_bytes((part.bit_length() + 7) // 8, "big") for part in parts]
    line("rsa", der(key), spki(key.public_key()), *parts)
    for name, kind in SHA.items():
        message, label = some(30), some(7)
        signature = key.sign(message, rsa_padding.PKCS1v15(), kind())
        line("pkcs1", name, der(key), spki(key.public_key()), message, signature)
        for salt in (0, 20, 64):
            pss = rsa_padding.PSS(rsa_padding.MGF1(kind()), salt)
            line("pss", name, salt, der(key), spki(key.public_key()), message, key.sign(message, pss, kind()))
        oaep = rsa_padding.OAEP(rsa_padding.MGF1(kind()), kind(), label)
        line("oaep", name, der(key), spki(key.public_key()), label, message, key.public_key().encrypt(message, oaep))


if __name__ == "__main__":
    digests()
    ciphers()
    derived()
    curves()
    edwards()
    rsas()
