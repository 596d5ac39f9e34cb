package Tar::Reader;

# Reads the entries of a tar archive from a handle, one after the other.

use strict;
use warnings;

use Tar::Header;

sub new {
    my ($class, $handle) = @_;
    return bless { handle => $handle }, $class;
}

# The next entry, undef at the end of the archive.
sub next {
    my ($self) = @_;
    my $block = $self->read_bytes(512, 1);
    # An archive ends with blocks of zeros, or just so.
    return undef if !defined $block || $block !~ /[^\0]/;

    my $entry = Tar::Header::parse($block);
    $entry->{data} = $self->read_data($entry->{size});
    return $entry;
}

# The data that follow a header, which fill up whole blocks.
sub read_data {
    my ($self, $size) = @_;
    my $data = $self->read_bytes($size);
    $self->read_bytes(-$size % 512);
    return $data;
}

# Exactly so many bytes. At the end of the archive it returns undef if that is
# allowed and nothing at all is left.
sub read_bytes {
    my ($self, $count, $may_end) = @_;
    my $bytes = '';
    while (length $bytes < $count) {
        my $got = read $self->{handle}, $bytes, $count - length $bytes, length $bytes;
        die "cannot read: $!\n" unless defined $got;
        next if $got;
        return undef if $may_end && $bytes eq '';
        die "unexpected end of archive\n";
    }
    return $bytes;
}

1;
