package ChordPro;

# Song sheets in the ChordPro format. A song is a string.

use strict;
use warnings;

use ChordPro::Chord;
use ChordPro::Key;

# The lines of a song with what they are: a list of [KIND, LINE], KIND being
# "comment", "directive", "tab" or "song". A line has its end with it.
sub lines {
    my ($song) = @_;
    my @lines;
    my $in_tab = 0;
    for my $line (split /(?<=\n)/, $song) {
        my ($name) = directive($line);
        my $kind = $line =~ /\A#/ ? 'comment'
            : defined $name ? 'directive'
            : $in_tab ? 'tab'
            : 'song';
        $in_tab = 1 if ($name // '') =~ /\A(?:start_of_tab|sot)\z/;
        $in_tab = 0 if ($name // '') =~ /\A(?:end_of_tab|eot)\z/;
        push @lines, [ $kind, $line ];
    }
    return @lines;
}

# The name, in lower case, and the value ('' if there is none) of a directive;
# an empty list if the line is something else.
sub directive {
    my ($line) = @_;
    my ($name, $value) = $line =~ /\A\s*\{\s*(\w+)\s*(?::\s*(.*?)\s*)?\}\s*\z/
        or return;
    return (lc $name, $value // '');
}

# The parts of a line of the song: a list of [TEXT, CHORD], CHORD being undef
# for words and remarks. The texts make up the line.
sub parts {
    my ($line) = @_;
    return map { [ $_, /\A\[(.*)\]\z/s ? ChordPro::Chord->parse($1) : undef ] }
        grep { $_ ne '' } split /(\[[^\[\]]*\])/, $line;
}

# The chords of a song as they are written, each once.
sub chords {
    my ($song) = @_;
    my (@chords, %seen);
    for my $entry (lines($song)) {
        my ($kind, $line) = @$entry;
        next unless $kind eq 'song';
        for my $part (parts($line)) {
            my $chord = $part->[1] or next;
            push @chords, $chord->name unless $seen{ $chord->name }++;
        }
    }
    return @chords;
}

# The song without chords, directives and comments.
sub words {
    my ($song) = @_;
    my $words = '';
    for my $entry (lines($song)) {
        my ($kind, $line) = @$entry;
        next unless $kind eq 'song';
        $words .= join '', map { $_->[0] } grep { !$_->[1] } parts($line);
    }
    return $words;
}

# The song moved by a number of semitones. The key that holds, be it named or
# guessed from the first chord, decides between sharps and flats.
sub transpose {
    my ($song, $steps) = @_;
    return $song if $steps % 12 == 0;

    my ($first) = chords($song);
    my $key = defined $first && ChordPro::Key->of_chord(ChordPro::Chord->parse($first));
    $key &&= $key->transpose($steps);

    my $moved = '';
    for my $entry (lines($song)) {
        my ($kind, $line) = @$entry;
        if ($kind eq 'song') {
            $line = join '', map {
                my ($text, $chord) = @$_;
                $chord ? '[' . $chord->transpose($steps, $key)->name . ']' : $text;
            } parts($line);
        }
        elsif ($kind eq 'directive') {
            my ($name, $value) = directive($line);
            my $named = $name eq 'key' && ChordPro::Key->parse($value);
            if ($named) {
                $key = $named->transpose($steps);
                $line =~ s/:\s*\K\Q$value\E/$key->name/e;
            }
        }
        $moved .= $line;
    }
    return $moved;
}

1;
