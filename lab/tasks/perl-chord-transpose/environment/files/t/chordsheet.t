use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More tests => 3;

use ChordPro;

my $song = <<'END';
{title: A song}
# a comment with [A]
[N.C.]One [Am7]two [F#m7b5/C]three
{sot}
e|--[0]--[A]--|
{eot}
[Bridge][C6/9]four [Am7]five
END

is_deeply([ ChordPro::chords($song) ], [ 'Am7', 'F#m7b5/C', 'C6/9' ], 'chords');
is(ChordPro::words($song), "[N.C.]One two three\n[Bridge]four five\n", 'words');
is(ChordPro::Chord::semitones('Cb'), 11, 'semitones');
