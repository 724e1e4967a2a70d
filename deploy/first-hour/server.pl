#!/usr/bin/perl
# A small shop for the first hour: a page with a token, a list, and a cart. It needs Perl's base alone, which every Debian has.
# Files below /release/ are those of a folder, so that packages are downloaded from it.
#
#   server.pl PORT FOLDER DELAY_FILE
#
# DELAY_FILE has the milliseconds that the list takes.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(IPPROTO_TCP TCP_NODELAY);

my ($port, $folder, $delay_file) = @ARGV;
my $server = IO::Socket::INET->new(
    LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 64, ReuseAddr => 1, Proto => 'tcp'
) or die "server.pl: listen on port $port: $!\n";
# Connections are processes, which nobody waits for.
$SIG{CHLD} = 'IGNORE';

sub delay_ms {
    open(my $file, '<', $delay_file) or return 0;
    my $line = <$file> // 0;
    return $line + 0;
}

sub answer {
    my ($method, $path, $token) = @_;
    if ($path =~ m{^/release/([A-Za-z0-9_.~+-]+)$}) {
        open(my $file, '<:raw', "$folder/$1") or return (404, 'text/plain', "no such file\n");
        local $/;
        return (200, 'application/octet-stream', scalar <$file>);
    }
    my $fresh = sprintf('%08x', int(rand(2**31)));
    return (200, 'text/html', "<html><head><title>Shop</title></head><body><meta name=\"token\" content=\"tk-$fresh\"></body></html>\n")
        if $path eq '/';
    if ($path =~ m{^/crates(\?|$)}) {
        select(undef, undef, undef, delay_ms() / 1000);
        return (200, 'application/json', '{"crates":[{"id":1,"name":"oak"},{"id":2,"name":"ash"}]}');
    }
    if ($method eq 'POST' && $path eq '/cart') {
        return (403, 'application/json', '{"error":"the token is missing"}') if $token !~ /^tk-[0-9a-f]{8}$/;
        return (201, 'application/json', "{\"cart\":\"cart-$fresh\"}");
    }
    return (200, 'application/json', "{\"cart\":\"$1\",\"crates\":1}") if $path =~ m{^/cart/(cart-[0-9a-f]{8})$};
    return (404, 'application/json', '{"error":"there is no such page"}');
}

sub serve {
    my ($connection) = @_;
    setsockopt($connection, IPPROTO_TCP, TCP_NODELAY, 1);
    binmode($connection);
    while (defined(my $line = <$connection>)) {
        my ($method, $path) = $line =~ m{^(\S+) (\S+) HTTP/1\.[01]} or last;
        my ($length, $token) = (0, '');
        while (defined(my $header = <$connection>)) {
            last if $header =~ /^\r?\n$/;
            $length = $1 if $header =~ /^content-length:\s*(\d+)/i;
            $token = $1 if $header =~ /^x-token:\s*(\S+)/i;
        }
        read($connection, my $body, $length) if $length > 0 && $length < 1_000_000;
        my ($status, $type, $text) = answer($method, $path, $token);
        print $connection "HTTP/1.1 $status Any\r\nContent-Type: $type\r\nContent-Length: " . length($text) . "\r\n\r\n" . $text;
        $connection->flush();
    }
}

while (1) {
    # A child that ends interrupts the call.
    my $connection = $server->accept() or next;
    my $child = fork();
    if (defined $child && $child == 0) {
        srand($$ ^ time);
        serve($connection);
        exit 0;
    }
    close($connection);
}
