package Tar::Header;

# The header block of an entry.

use strict;
use warnings;

# The fields of a block of 512 bytes, as a hash.
sub parse {
    my ($block) = @_;
    my ($name, $mode, $size, $mtime, $checksum, $type, $link, $magic, $prefix) =
        unpack 'a100 a8 x8 x8 a12 a12 a8 a1 a100 a6 x82 a155', $block;

    # The sum is of all bytes, those of the checksum itself taken as spaces.
    my $sum = unpack '%32C*', $block;
    $sum += 8 * 32 - unpack '%32C*', $checksum;
    die "wrong checksum\n" if $sum != number($checksum);

    $name = text($name);
    if ($magic eq "ustar\0" && text($prefix) ne '') {
        $name = text($prefix) . "/$name";
    }
    # Old archives have no type for folders but a slash at the end.
    $type = $name =~ m{/\z} ? '5' : '0' if $type eq "\0";

    return {
        path     => $name,
        linkpath => text($link),
        type     => $type,
        mode     => number($mode),
        mtime    => number($mtime),
        size     => size(number($size)),
    };
}

sub size {
    my ($number) = @_;
    die "malformed number\n" if $number < 0;
    return $number;
}

# A text field ends at its first NUL or fills the field.
sub text {
    my ($field) = @_;
    return $field =~ s/\0.*//sr;
}

# A number field holds octal digits between spaces and NULs, or, marked by its
# first bit, a binary number.
sub number {
    my ($field) = @_;
    return binary_number($field) if $field =~ /\A[\x80-\xff]/;
    my ($digits) = $field =~ /\A[ \0]*([0-7]*)[ \0]*\z/ or die "malformed number\n";
    return oct $digits;
}

# Big-endian, in two's complement of all bits but the first.
sub binary_number {
    my ($first, @bytes) = unpack 'C*', $_[0];
    my $number = $first & 0x7f;
    $number -= 0x80 if $number & 0x40;
    $number = $number * 256 + $_ for @bytes;
    return $number;
}

1;
