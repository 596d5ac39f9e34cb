# Hidden tests of chordsheet; run in the project's folder.
use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More tests => 67;

use lib 'lib';
use ChordPro;

my $dir = tempdir(CLEANUP => 1);

sub moved {
    my ($song, $steps, $expected, $what) = @_;
    is(eval { ChordPro::transpose($song, $steps) } // "died: $@", $expected, $what);
}

moved(<<'SONG', 3, <<'MOVED', 'the example of the issue');
{title: Swing low}
{key: G}
[G]Swing low, sweet [C/G]chari[G]ot, [F#m7b5]coming [N.C.]for
SONG
{title: Swing low}
{key: Bb}
[Bb]Swing low, sweet [Eb/Bb]chari[Bb]ot, [Am7b5]coming [N.C.]for
MOVED

# All keys: the name, and whether black notes are flats.
my @major = split ' ', 'C Db- D Eb- E F- F# G Ab- A Bb- B';
my @minor = split ' ', 'Cm- C#m Dm- Ebm- Em Fm- F#m Gm- G#m Am Bbm- Bm';
my $sharps = '[C][C#][D][D#][E][F][F#][G][G#][A][A#][B]';
my $flats  = '[C][Db][D][Eb][E][F][Gb][G][Ab][A][Bb][B]';
for my $steps (1 .. 11) {
    # The chords are such that they are the chromatic scale from C afterwards.
    my @names = split ' ', 'C C# D Eb E F F# G Ab A Bb B';
    my $scale = join '', map { "[$names[($_ - $steps) % 12]]" } 0 .. 11;
    for my $list ([ C => @major ], [ Cm => @minor ]) {
        my ($from, @keys) = @$list;
        my $is_flat = (my $to = $keys[$steps]) =~ s/-//;
        moved("{key: $from}\n$scale", $steps, "{key: $to}\n" . ($is_flat ? $flats : $sharps),
            "$from moved by $steps");
    }
}

# The name of the key.
moved("{key: C#}\n", 2, "{key: Eb}\n", 'C# to Eb');
moved("{key: Dbm}\n", 5, "{key: F#m}\n", 'Dbm to F#m');
moved("{key: A#}\n[A#][D#]", 1, "{key: B}\n[B][E]", 'A# to B');
moved("{key: Cb}[x]\n", 1, "{key: Cb}[x]\n", 'not a directive');
moved("{key: Cb}\n", 1, "{key: C}\n", 'Cb to C');
moved("{key: E#m}\n{key: Fb}\n{key: B#}\n", 1, "{key: F#m}\n{key: F}\n{key: Db}\n", 'white notes with signs');
moved("  { KEY :Bb  }  \r\n[Bb]x\r\n{key:F}\r\n", -1, "  { KEY :A  }  \r\n[A]x\r\n{key:E}\r\n", 'spaces, case and line ends stay');
moved("{key: H}\n{key}\n{key: }\n{key: C major}\n{key: Cmaj7}\n[F]", 1,
    "{key: H}\n{key}\n{key: }\n{key: C major}\n{key: Cmaj7}\n[F#]", 'values that are no keys');
moved("{keys: C}\n{key_of: C}\n{capo: 2}\n{title: C}\n{c: [C] {key: C}}\n", 2,
    "{keys: C}\n{key_of: C}\n{capo: 2}\n{title: C}\n{c: [C] {key: C}}\n", 'other directives');

# Down, and far.
moved("{key: C}\n[C][F][G7][Am/G]", -2, "{key: Bb}\n[Bb][Eb][F7][Gm/F]", 'down');
moved("{key: C}\n[C][F][G7][Am/G]", -14, "{key: Bb}\n[Bb][Eb][F7][Gm/F]", 'down by more than an octave');
moved("{key: C}\n[C][B]", 25, "{key: Db}\n[Db][C]", 'up by more than two');
moved("{key: A#}\n[E#][Cb/Fb]x", $_, "{key: A#}\n[E#][Cb/Fb]x", "nothing changes for $_") for 0, 12, -24, '+0', '-0';
moved("{key: C}\n[C]", '+2', "{key: D}\n[D]", 'a plus sign');

# Several keys.
moved(<<'SONG', 1, <<'MOVED', 'a key holds until the next one');
[A]one [D#]
{key: E}
[A] [C]
{key: D#}
{key: ?}
[A] [D]
SONG
[Bb]one [E]
{key: F}
[Bb] [Db]
{key: E}
{key: ?}
[A#] [D#]
MOVED

# No key.
moved("[Am][G#]", 3, "[Cm][B]", 'minor');
moved("[Am7][G]", 3, "[Cm7][Bb]", 'a first chord m7');
moved("[Amin][G]", 3, "[Cmin][Bb]", 'a first chord min');
moved("[Amaj7][G]", 3, "[Cmaj7][A#]", 'a first chord maj7');
moved("[AM7][G]", 3, "[CM7][A#]", 'a first chord M7');
moved("[A/C#][G]", 3, "[C/E][A#]", 'a first chord with a bass');
moved("[N.C.][Bridge]\n#[D]\n{c: [D]}\n{sot}\n[D]\n{eot}\nx [A] [G]\n", 3,
    "[N.C.][Bridge]\n#[D]\n{c: [D]}\n{sot}\n[D]\n{eot}\nx [C] [A#]\n", 'the first chord is a chord of the song');
moved("[D]\n[C]\n{key: A}\n[G]\n", 3, "[F]\n[Eb]\n{key: C}\n[A#]\n", 'a key that comes later');

# Chords and what looks like them.
moved("{key: C}\n[Bb7b5][Gsus4][Cadd9][D6/9][D6/9/F#][Eaug][F+][Gdim7][A-][Em(maj7)][C#7#9][Abm]", 2,
    "{key: D}\n[C7b5][Asus4][Dadd9][E6/9][E6/9/G#][F#aug][G+][Adim7][B-][F#m(maj7)][D#7#9][A#m]", 'qualities');
moved("{key: C}\n[Gm/Bb][Gb/Db][C/Fb]", 5, "{key: F}\n[Cm/Eb][B/Gb][F/A]", 'the bass');
my $remarks = "[*Am][Bridge][Add][A B][C/][C/x][/G][H][c][am][ C][C ][][A|B] A C# [A [B]]\n]C[\n";
moved("{key: C}\n$remarks", 2, "{key: D}\n" . ($remarks =~ s/\[B\]/[C#]/r), 'remarks and words');
moved("", 2, '', 'an empty song');
moved("no chords\n\n\n", 2, "no chords\n\n\n", 'a song without chords');
moved("{key: C}\n{start_of_tab}\n[C]|--C--|\n# x\n{end_of_tab}\n[C]\303\251", 2,
    "{key: D}\n{start_of_tab}\n[C]|--C--|\n# x\n{end_of_tab}\n[D]\303\251", 'tablature, other bytes, no last newline');

# The command.
open my $out, '>:raw', "$dir/song" or die $!;
print {$out} "{key: C}\r\n[C]\303\251t\303\251\r\n";
close $out;
is(`perl bin/chordsheet transpose -1 $dir/song`, "{key: B}\r\n[B]\303\251t\303\251\r\n", 'the command');
is(`perl bin/chordsheet transpose +13 $dir/song`, "{key: Db}\r\n[Db]\303\251t\303\251\r\n", 'the command with a plus');
for my $arguments ("transpose", "transpose 1", "transpose x $dir/song", "transpose 1.5 $dir/song",
    "transpose '' $dir/song", "transpose - $dir/song", "transpose 2 $dir/song x") {
    my $text = `perl bin/chordsheet $arguments 2>&1 >/dev/null`;
    is(($? >> 8) . ($text =~ /transpose STEPS FILE/ ? ' usage' : " $text"), '2 usage', "usage: $arguments" =~ s/\Q$dir\///r);
}

# What worked before.
is(`perl bin/chordsheet chords $dir/song`, "C\n", 'chords');
is(`perl bin/chordsheet words $dir/song`, "\303\251t\303\251\r\n", 'words');
