#!/bin/sh
# Makes the files of a container image: the program from a .deb, and what it needs from Debian's packages. No root is needed.
#
#   rootfs.sh DEB FOLDER
set -eu

deb=$(realpath "${1:?rootfs.sh DEB FOLDER}")
folder=${2:?rootfs.sh DEB FOLDER}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rm -rf "$folder"
mkdir -p "$folder" "$work/all"
folder=$(realpath "$folder")
(cd "$work" && apt-get download -qq -o APT::Sandbox::User=root libc6 libgcc-s1 ca-certificates >/dev/null)
for package in "$work"/*.deb "$deb"; do dpkg-deb --extract "$package" "$work/all"; done

# Of Debian's packages: the C library, which has its name services since 2.34, and certificates. Debuggers, old names and vector
# mathematics use the rest.
libraries=$(cd "$work/all" && find lib lib64 usr/lib \( -name 'ld-linux*' -o -name 'libc.so*' -o -name 'libm.so*' -o -name 'libgcc_s*' \
    -o -name 'libdl.so*' -o -name 'libpthread.so*' \) 2>/dev/null)
# A list of files.
# shellcheck disable=SC2086
(cd "$work/all" && cp --archive --parents $libraries "$folder")
mkdir -p "$folder/usr/bin" "$folder/etc/ssl/certs" "$folder/usr/share/doc/plimsoll" "$folder/tmp" "$folder/data"
cp "$work/all/usr/bin/plimsoll" "$folder/usr/bin/"
cp "$work/all/usr/share/doc/plimsoll/copyright" "$work/all/usr/share/doc/plimsoll/"THIRD-PARTY-LICENSES* "$folder/usr/share/doc/plimsoll/"
cat "$work"/all/usr/share/ca-certificates/mozilla/*.crt >"$folder/etc/ssl/certs/ca-certificates.crt"
echo 'plimsoll:x:65532:65532::/data:/usr/sbin/nologin' >"$folder/etc/passwd"
echo 'plimsoll:x:65532:' >"$folder/etc/group"
echo 'hosts: files dns' >"$folder/etc/nsswitch.conf"
chmod 1777 "$folder/tmp"
chmod 0777 "$folder/data"
du -sh "$folder"
