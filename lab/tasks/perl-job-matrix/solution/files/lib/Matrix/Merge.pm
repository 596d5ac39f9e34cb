package Matrix::Merge;

use strict;
use warnings;

use Exporter qw(import);
our @EXPORT_OK = qw(merge);

# A new hash with the keys of the first one, changed as the second one says. It
# shares no data with either, at any depth, so that it may be changed in place.
sub merge {
    my ($base, $changes) = @_;
    my %result = %{ copy($base) };
    for my $key (sort keys %$changes) {
        my $change = $changes->{$key};
        if ($key =~ /\A(.+)\+\z/s) {
            push @{ $result{$1} }, @{ copy($change) };
        }
        elsif (ref $change eq 'HASH' && ref $result{$key} eq 'HASH') {
            $result{$key} = merge($result{$key}, $change);
        }
        else {
            $result{$key} = copy($change);
        }
    }
    return \%result;
}

sub copy {
    my ($node) = @_;
    return { map { $_ => copy($node->{$_}) } keys %$node } if ref $node eq 'HASH';
    return [ map { copy($_) } @$node ] if ref $node eq 'ARRAY';
    return $node;
}

1;
