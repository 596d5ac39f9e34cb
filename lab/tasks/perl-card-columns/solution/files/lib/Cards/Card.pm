package Cards::Card;

# One entry of an address book: properties with one or more values each.

use strict;
use warnings;

sub new {
    my ($class) = @_;
    return bless { values => {} }, $class;
}

# Adds a value of a property. Names of properties ignore case.
sub add {
    my ($self, $name, $value) = @_;
    push @{ $self->{values}{ uc $name } }, $value;
    return;
}

# All values of a property, in the order of the file.
sub all {
    my ($self, $name) = @_;
    return @{ $self->{values}{ uc $name } || [] };
}

# The first value of a property, undef if there is none. This is always one
# value: callers build lists and hashes of it, where an empty list would shift
# what follows.
sub first {
    my ($self, $name) = @_;
    my $values = $self->{values}{ uc $name } or return undef;
    return $values->[0];
}

# A component of a structured value such as N or ADR, counted from 0; undef if
# the property or the component is missing or empty. Always one value, too.
sub component {
    my ($self, $name, $index) = @_;
    my $value = $self->first($name);
    return undef unless defined $value;
    my @components = map { s/\\([;\\])/$1/gr } $value =~ /\G((?:[^;\\]|\\.)*)(?:;|\z)/gs;
    return undef if ($components[$index] // '') eq '';
    return $components[$index];
}

1;
