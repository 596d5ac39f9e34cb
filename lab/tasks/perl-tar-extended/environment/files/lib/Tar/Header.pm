package Tar::Header;

# The header block of an entry.

use strict;
use warnings;

# The fields of a block of 512 bytes, as a hash.
sub parse {
    my ($block) = @_;
    my ($name, $mode, $size, $mtime, $checksum, $type, $link) =
        unpack 'a100 a8 x8 x8 a12 a12 a8 a1 a100', $block;

    # The sum is of all bytes, those of the checksum itself taken as spaces.
    my $sum = unpack '%32C*', $block;
    $sum += 8 * 32 - unpack '%32C*', $checksum;
    die "wrong checksum\n" if $sum != number($checksum);

    $name = text($name);
    # Old archives have no type for folders but a slash at the end.
    $type = $name =~ m{/\z} ? '5' : '0' if $type eq "\0";

    return {
        path     => $name,
        linkpath => text($link),
        type     => $type,
        mode     => number($mode),
        mtime    => number($mtime),
        size     => number($size),
    };
}

# A text field ends at its first NUL or fills the field.
sub text {
    my ($field) = @_;
    return $field =~ s/\0.*//sr;
}

# A number field holds octal digits between spaces and NULs.
sub number {
    my ($field) = @_;
    my ($digits) = $field =~ /\A[ \0]*([0-7]*)[ \0]*\z/ or die "malformed number\n";
    return oct $digits;
}

1;
