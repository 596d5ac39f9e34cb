package Matrix;

use strict;
use warnings;

use Matrix::Merge qw(merge);

# The jobs of a specification, as a list of hashes.
sub expand {
    my ($spec) = @_;
    my @jobs;
    for my $axes (combinations($spec->{axes} || {})) {
        next if grep { matches($_, $axes) } @{ $spec->{exclude} || [] };
        my $job = merge($spec->{defaults} || {}, { axes => $axes });
        for my $override (@{ $spec->{override} || [] }) {
            next unless matches($override->{when} || {}, $axes);
            $job = merge($job, $override->{set} || {});
        }
        fill($job, $axes);
        push @jobs, $job;
    }
    return @jobs;
}

# All combinations of the values of the axes.
sub combinations {
    my ($axes) = @_;
    my @combinations = ({});
    for my $axis (sort keys %$axes) {
        @combinations = map {
            my $combination = $_;
            map { { %$combination, $axis => $_ } } @{ $axes->{$axis} };
        } @combinations;
    }
    return @combinations;
}

# Whether the axes have all the values of a condition.
sub matches {
    my ($condition, $axes) = @_;
    for my $axis (keys %$condition) {
        return 0 unless defined $axes->{$axis} && $axes->{$axis} eq $condition->{$axis};
    }
    return 1;
}

# Replaces {axis} in all texts of a structure.
sub fill {
    my ($node, $axes) = @_;
    for my $value (ref $node eq 'HASH' ? values %$node : @$node) {
        if (ref $value eq 'HASH' || ref $value eq 'ARRAY') {
            fill($value, $axes);
        }
        elsif (defined $value && !ref $value && $value =~ /\{/) {
            $value =~ s/\{([^{}]*)\}/$axes->{$1} \/\/ "{$1}"/ge;
        }
    }
    return;
}

1;
