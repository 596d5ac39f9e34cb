package ChordPro::Key;

# A major or minor key.

use strict;
use warnings;

use ChordPro::Chord;

# (Not qw(), which warns of the "#".)
my @major = split ' ', 'C Db D Eb E F F# G Ab A Bb B';
my @minor = split ' ', 'Cm C#m Dm Ebm Em Fm F#m Gm G#m Am Bbm Bm';

my @sharps = split ' ', 'C C# D D# E F F# G G# A A# B';
my @flats  = split ' ', 'C Db D Eb E F Gb G Ab A Bb B';

my %has_flats = map { $_ => 1 } qw(F Bb Eb Ab Db Dm Gm Cm Fm Bbm Ebm);

# A key from the semitones of its tonic above C.
sub new {
    my ($class, $tonic, $is_minor) = @_;
    return bless { tonic => $tonic % 12, minor => $is_minor }, $class;
}

# A key from its name, undef if that is not one.
sub parse {
    my ($class, $name) = @_;
    my ($tonic, $minor) = $name =~ /\A([A-G][#b]?)(m?)\z/ or return undef;
    return $class->new(ChordPro::Chord::semitones($tonic), $minor eq 'm');
}

# The key that has the chord as its tonic.
sub of_chord {
    my ($class, $chord) = @_;
    return $class->new(ChordPro::Chord::semitones($chord->root), $chord->quality =~ /\Am(?!aj)/);
}

sub transpose {
    my ($self, $steps) = @_;
    return ref($self)->new($self->{tonic} + $steps, $self->{minor});
}

sub name {
    my ($self) = @_;
    return ($self->{minor} ? \@minor : \@major)->[ $self->{tonic} ];
}

# The name of a note in this key, from its semitones above any C.
sub note {
    my ($self, $semitones) = @_;
    return ($has_flats{ $self->name } ? \@flats : \@sharps)->[ $semitones % 12 ];
}

1;
