package ChordPro::Chord;

# A chord: a root such as Bb, a quality such as m7 and perhaps a bass.

use strict;
use warnings;

my %natural = (C => 0, D => 2, E => 4, F => 5, G => 7, A => 9, B => 11);

my $note    = qr/[A-G][#b]?/;
my $quality = qr{(?:maj|min|dim|aug|sus|add|no|6/9|m|M|\+|-|\#|b|[0-9]+|\(|\))*};

# A chord from its name, undef if that is not one.
sub parse {
    my ($class, $name) = @_;
    my ($root, $rest, $bass) = $name =~ m{\A($note)($quality)(?:/($note))?\z} or return undef;
    return bless { root => $root, quality => $rest, bass => $bass }, $class;
}

sub root    { return $_[0]{root} }
sub quality { return $_[0]{quality} }

# The bass note, undef unless the chord names one.
sub bass { return $_[0]{bass} }

sub name {
    my ($self) = @_;
    return $self->root . $self->quality . (defined $self->bass ? '/' . $self->bass : '');
}

# The chord moved by a number of semitones, its notes as they are named in a key.
sub transpose {
    my ($self, $steps, $key) = @_;
    my ($root, $bass) = map { defined $_ ? $key->note(semitones($_) + $steps) : undef }
        $self->root, $self->bass;
    return bless { %$self, root => $root, bass => $bass }, ref $self;
}

# The semitones from C up to a note, 0 to 11.
sub semitones {
    my ($note) = @_;
    my ($letter, $sign) = $note =~ /\A(.)(.?)\z/;
    return ($natural{$letter} + ($sign eq '#' ? 1 : $sign eq 'b' ? -1 : 0)) % 12;
}

1;
