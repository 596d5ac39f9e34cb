package Tar::Reader;

# Reads the entries of a tar archive from a handle, one after the other.

use strict;
use warnings;

use Tar::Header;
use Tar::Pax;

sub new {
    my ($class, $handle) = @_;
    return bless { handle => $handle, global => {} }, $class;
}

# The next entry, undef at the end of the archive.
sub next {
    my ($self) = @_;
    my %local; # the values that the headers before the entry have for it
    my $needs_entry = 0;
    while (1) {
        my $block = $self->read_bytes(512, 1);
        # An archive ends with blocks of zeros, or just so.
        if (!defined $block || $block !~ /[^\0]/) {
            die "extended header without entry\n" if $needs_entry;
            return undef;
        }

        my $entry = Tar::Header::parse($block);
        my $type = $entry->{type};
        if ($type !~ /\A[xgLK]\z/) {
            return $self->finish($entry, \%local);
        }

        my $data = $self->read_data($entry->{size});
        if ($type eq 'g') {
            $self->{global} = { %{ $self->{global} }, Tar::Pax::records($data) };
            next;
        }
        $needs_entry = 1;
        if ($type eq 'x') {
            %local = (%local, Tar::Pax::records($data));
        }
        else {
            $local{ $type eq 'L' ? 'path' : 'linkpath' } = Tar::Header::text($data);
        }
    }
}

# The entry with the values that other headers have for it, and with its data.
sub finish {
    my ($self, $entry, $local) = @_;
    my %values = (%{ $self->{global} }, %$local);
    for my $key (grep { $values{$_} ne '' } keys %values) {
        $entry->{$key} = $values{$key};
    }
    # Links, devices, folders and fifos have none, even with a size.
    $entry->{size} = 0 if $entry->{type} =~ /\A[1-6]\z/;
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
