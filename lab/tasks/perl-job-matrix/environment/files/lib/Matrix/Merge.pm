package Matrix::Merge;

use strict;
use warnings;

use Exporter qw(import);
our @EXPORT_OK = qw(merge);

# A new hash with the keys of the first one, changed as the second one says.
sub merge {
    my ($base, $changes) = @_;
    my %result = %$base;
    for my $key (sort keys %$changes) {
        my $change = $changes->{$key};
        if ($key =~ /\A(.+)\+\z/s) {
            push @{ $result{$1} }, @$change;
        }
        elsif (ref $change eq 'HASH' && ref $result{$key} eq 'HASH') {
            $result{$key} = merge($result{$key}, $change);
        }
        else {
            $result{$key} = $change;
        }
    }
    return \%result;
}

1;
