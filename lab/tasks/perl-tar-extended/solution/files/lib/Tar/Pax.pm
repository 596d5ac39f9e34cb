package Tar::Pax;

# The records of a pax header.

use strict;
use warnings;

# The keys that are used, with the form of their values.
my %form = (
    path     => qr/.*/s,
    linkpath => qr/.*/s,
    size     => qr/[0-9]+/,
    mtime    => qr/[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)/,
);

# The keys and values of the records that are used. A value is '' where the
# record takes back an earlier one.
sub records {
    my ($data) = @_;
    my %values;
    while ($data ne '') {
        my ($length) = $data =~ /\A([0-9]+) / or malformed();
        malformed() if $length > length $data;
        my $record = substr $data, 0, $length, '';
        my ($key, $value) = $record =~ /\A[0-9]+ ([^=]+)=(.*)\n\z/s or malformed();
        my $form = $form{$key} or next;
        malformed() if $value ne '' && $value !~ /\A$form\z/;
        $values{$key} = $key eq 'size' || $key eq 'mtime' ? number($value) : $value;
    }
    return %values;
}

sub number {
    my ($value) = @_;
    return $value eq '' ? '' : 0 + $value;
}

sub malformed {
    die "malformed extended header\n";
}

1;
