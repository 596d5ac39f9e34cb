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

# The first value of a property, undef if there is none.
sub first {
    my ($self, $name) = @_;
    my $values = $self->{values}{ uc $name } or return;
    return $values->[0];
}

# A component of a structured value such as N or ADR, counted from 0; undef if
# the property or the component is missing or empty.
sub component {
    my ($self, $name, $index) = @_;
    my $value = $self->first($name);
    return unless defined $value;
    my @components = map { s/\\([;\\])/$1/gr } $value =~ /\G((?:[^;\\]|\\.)*)(?:;|\z)/gs;
    return if ($components[$index] // '') eq '';
    return $components[$index];
}

1;
