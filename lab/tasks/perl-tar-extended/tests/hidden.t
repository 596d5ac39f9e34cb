# Hidden tests of tarcat; run in the project's folder.
use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More tests => 89;

use lib 'lib';
use Tar::Reader;

# A header block and the data. Fields may be given by name.
sub entry {
    my ($type, $name, $data, %field) = @_;
    my $header = pack 'a100 a8 a8 a8 a12 a12 A8 a1 a100 a8 x80 a155 x12', $name, '0000644',
        '0000000', '0000000', $field{size} // sprintf('%011o ', length $data),
        $field{mtime} // '00000001750', '', $type, $field{link} // '', $field{magic} // "ustar\00000",
        $field{prefix} // '';
    substr $header, 148, 8, sprintf "%06o\0 ", unpack '%32C*', $header;
    return $header . $data . "\0" x (-length($data) % 512);
}

# A pax record with the right length.
sub record {
    my ($key, $value) = @_;
    my $rest = " $key=$value\n";
    my $length = length $rest;
    $length++ while length($length . $rest) > $length;
    die unless length("$length$rest") == $length;
    return "$length$rest";
}

sub records {
    my (@pairs) = @_;
    my $records = '';
    while (my ($key, $value) = splice @pairs, 0, 2) {
        $records .= record($key, $value);
    }
    return $records;
}

sub pax    { return entry('x', 'PaxHeaders/x', records(@_)) }
sub global { return entry('g', 'pax_global_header', records(@_)) }
sub long   { return entry('L', '././@LongLink', "$_[0]\0", magic => "ustar  \0") }

my $end = "\0" x 1024;

# All entries of an archive, or the message.
sub read_all {
    my ($archive) = @_;
    open my $in, '<:raw', \$archive or die $!;
    my $reader = Tar::Reader->new($in);
    my @entries;
    my $ok = eval {
        while (my $entry = $reader->next) {
            push @entries, $entry;
            die "too many entries\n" if @entries > 100;
        }
        1;
    };
    return $ok ? \@entries : $@;
}

# Compares some keys of the entries.
sub holds {
    my ($archive, $keys, $expected, $what) = @_;
    my $entries = read_all($archive);
    $entries = [ map { [ @$_{ split ' ', $keys } ] } @$entries ] if ref $entries;
    is_deeply($entries, $expected, $what);
}

sub fails {
    my ($archive, $expected, $what) = @_;
    my $answer = read_all($archive);
    is(ref $answer ? 'entries: ' . join ' ', map { $_->{path} } @$answer : $answer, "$expected\n", $what);
}

my $n100 = 'n' x 100;
my $p155 = 'p' x 155;

# Prefix.
holds(entry('0', 'b', 'x', prefix => 'a') . $end, 'path', [['a/b']], 'a prefix');
holds(entry('0', $n100, 'x', prefix => $p155) . $end, 'path', [["$p155/$n100"]], 'fields that are full');
holds(entry('0', 'b', 'x', prefix => "a\0c") . $end, 'path', [['a/b']], 'a prefix ends at a NUL');
holds(entry('0', 'b', 'x', prefix => 'a', magic => "ustar  \0") . $end, 'path', [['b']], 'no prefix in old GNU archives');
holds(entry('0', 'b', 'x', prefix => 'a', magic => '') . $end, 'path', [['b']], 'no prefix without magic');
holds(entry("\0", 'b/', '', prefix => 'a') . $end, 'path type', [[ 'a/b/', '5' ]], 'an old folder with prefix');

# Numbers.
sub binary { return pack 'C*', @_ }
holds(entry('0', 'a', 'x' x 700, size => binary(0x80, (0) x 9, 2, 188)) . entry('0', 'b', 'y') . $end,
    'path size', [[ 'a', 700 ], [ 'b', 1 ]], 'a binary size');
holds(entry('0', 'a', '', mtime => binary(0x80, (0) x 6, 1, 2, 3, 4, 5)) . $end, 'mtime', [[4328719365]], 'a large mtime');
holds(entry('0', 'a', '', mtime => binary((255) x 12)) . $end, 'mtime', [[-1]], 'an mtime of -1');
holds(entry('0', 'a', '', mtime => binary((255) x 9, 254, 0, 1)) . $end, 'mtime', [[-131071]], 'a negative mtime');
holds(entry('0', 'a', '', mtime => binary((255) x 11, 0)) . $end, 'mtime', [[-256]], 'an mtime of -256');
holds(entry('0', 'a', '', mtime => binary(0x80, (0) x 11)) . $end, 'mtime', [[0]], 'a binary 0');
fails(entry('0', 'a', '', size => binary((255) x 12)) . $end, 'malformed number', 'a negative size');
fails(entry('0', 'a', '', size => '0000000000x') . $end, 'malformed number', 'a size that is no number');

# GNU long names.
my $long = join '/', ('folder') x 40;
my $link = join '/', ('..') x 99;
holds(long($long) . entry('0', 'cut', 'x') . entry('0', 'b', 'y') . $end, 'path data',
    [[ $long, 'x' ], [ 'b', 'y' ]], 'a long path, for one entry');
holds(entry('K', 'l', "$link\0") . long($long) . entry('2', 'cut', '', link => 'c') . entry('2', 'b', '', link => 'd') . $end,
    'path linkpath', [[ $long, $link ], [ 'b', 'd' ]], 'a long link and a long path');
holds(long($long) . entry('K', 'l', "$link\0") . entry('1', 'cut', '', link => 'c') . $end,
    'path linkpath', [[ $long, $link ]], 'in the other order');
holds(entry('L', 'l', 'no NUL') . entry('0', 'a', '') . $end, 'path', [['no NUL']], 'a long path without NUL');
holds(entry('L', 'l', "a\0b\0") . entry('0', 'c', '') . $end, 'path', [['a']], 'a long path up to the first NUL');
holds(long("$n100$p155" x 4) . entry('0', 'a', '', prefix => 'p') . $end, 'path', [[ "$n100$p155" x 4 ]],
    'more than a block, no prefix');

# Pax headers.
holds(pax(path => $long) . entry('0', 'cut', 'x', prefix => 'p') . entry('0', 'b', 'y') . $end, 'path data',
    [[ $long, 'x' ], [ 'b', 'y' ]], 'a path, for one entry');
holds(pax(linkpath => $link, path => 'q') . entry('2', 'cut', '', link => 'c') . entry('2', 'b', '', link => 'd') . $end,
    'path linkpath', [[ 'q', $link ], [ 'b', 'd' ]], 'a link');
holds(pax(path => "a=b\nc\n12 path=z") . entry('0', 'x', '') . $end, 'path', [["a=b\nc\n12 path=z"]],
    'a value with newlines and equals signs');
holds(pax(path => "\303\251" x 60, 'x.y' => "\0\377\n") . entry('0', 'x', '') . $end, 'path', [["\303\251" x 60]],
    'lengths are of bytes');
for my $count (1, 2, 80 .. 95, 985 .. 995) {
    my $path = 'q' x $count;
    my $entries = read_all(pax(comment => '', path => $path, atime => '1') . entry('0', 'x', '') . $end);
    is(ref $entries ? $entries->[0]{path} : $entries, $path, "a path of $count bytes");
}
holds(pax(path => 'a', path => 'b') . entry('0', 'x', '') . $end, 'path', [['b']], 'the last of two records');
holds(entry('x', 'x', '') . entry('0', 'a', 'x') . $end, 'path data', [[ 'a', 'x' ]], 'no records');
holds(pax(uname => 'u', data => 'd', type => '5', mode => '1', Path => 'p') . entry('0', 'a', 'x') . $end,
    'path type mode data', [[ 'a', '0', 0644, 'x' ]], 'other keys');
holds(pax(size => 700) . entry('0', 'a', 'x' x 700, size => '00000000000') . entry('0', 'b', 'y') . $end,
    'path size data', [[ 'a', 700, 'x' x 700 ], [ 'b', 1, 'y' ]], 'a size');
holds(pax(size => 0) . entry('0', 'a', '', size => '00000001000') . entry('0', 'b', 'y') . $end,
    'path size data', [[ 'a', 0, '' ], [ 'b', 1, 'y' ]], 'a size of 0');
holds(pax(mtime => '1700000000.5') . entry('0', 'a', '') . pax(mtime => '-12.25') . entry('0', 'b', '')
        . pax(mtime => '17') . entry('0', 'c', '') . entry('0', 'd', '') . $end,
    'path mtime', [[ 'a', 1700000000.5 ], [ 'b', -12.25 ], [ 'c', 17 ], [ 'd', 1000 ]], 'times');

# Global ones.
holds(global(mtime => 5, comment => 'c') . entry('0', 'a', 'x') . entry('0', 'b', '') . global(linkpath => 'l')
        . entry('2', 'c', '', link => 'k') . global(mtime => 6) . entry('2', 'd', '', link => 'k') . $end,
    'path linkpath mtime', [[ 'a', '', 5 ], [ 'b', '', 5 ], [ 'c', 'l', 5 ], [ 'd', 'l', 6 ]], 'for all that follow');
holds(global(mtime => 5, path => 'g') . pax(mtime => 7) . entry('0', 'a', '') . entry('0', 'b', '') . $end,
    'path mtime', [[ 'g', 7 ], [ 'g', 5 ]], 'a local record comes first');
holds(global(mtime => 5, path => 'g') . pax(path => '') . entry('0', 'a', '', prefix => 'p') . entry('0', 'b', '') . $end,
    'path mtime', [[ 'p/a', 5 ], [ 'g', 5 ]], 'an empty local value');
holds(global(mtime => 5, path => 'g') . global(path => '') . entry('0', 'a', '') . $end,
    'path mtime', [[ 'a', 5 ]], 'an empty global value');
holds(global(size => 3, mtime => 5) . pax(size => '', mtime => '') . entry('0', 'a', 'xy') . entry('0', 'b', 'abc', size => '0') . $end,
    'path size mtime data', [[ 'a', 2, 1000, 'xy' ], [ 'b', 3, 5, 'abc' ]], 'empty numbers');
holds(global(size => 3) . pax(path => 'long name') . long('l' x 600) . global(comment => 'a comment') . pax(path => 'other')
        . entry('0', 'a', 'abc', size => '0') . $end,
    'path size data', [[ 'other', 3, 'abc' ]], 'a global size is not that of other headers');
holds(global(path => 'g') . long('l') . entry('0', 'a', '') . $end, 'path', [['l']], 'a long name and a global path');
holds(entry('0', 'a', 'x') . global(path => 'g') . $end, 'path', [['a']], 'one at the end');
holds(entry('0', 'a', 'x') . global(path => 'g'), 'path', [['a']], 'one at the end, no zeros');

# All kinds before one entry.
holds(pax(mtime => 7) . long('l') . entry('0', 'a', '') . entry('0', 'b', '') . $end,
    'path mtime', [[ 'l', 7 ], [ 'b', 1000 ]], 'x L');
holds(long('l') . pax(mtime => 7) . global(linkpath => 'g') . entry('K', 'k', "k\0") . entry('1', 'a', '') . entry('1', 'b', '') . $end,
    'path linkpath mtime', [[ 'l', 'k', 7 ], [ 'b', 'g', 1000 ]], 'L x g K');
holds(pax(mtime => 7) . pax(path => 'p') . entry('0', 'a', '') . $end, 'path mtime', [[ 'p', 7 ]], 'x x');

# No data.
for my $type (1 .. 6) {
    holds(entry($type, 'a', '', size => '00000001000') . entry('0', 'b', 'y') . $end, 'path type size data',
        [[ 'a', $type, 0, '' ], [ 'b', 0, 1, 'y' ]], "type $type has no data");
}
holds(pax(size => 600) . entry('1', 'a', '') . entry('0', 'b', 'y') . $end, 'path size data',
    [[ 'a', 0, '' ], [ 'b', 1, 'y' ]], 'nor with a size in a pax header');
holds(entry('7', 'a', 'x') . entry('Z', 'b', 'y') . $end, 'path data', [[ 'a', 'x' ], [ 'b', 'y' ]], 'other types have');

# Errors.
my $bad = 'malformed extended header';
my @malformed = (
    [ 'no number', 'path=a' . "\n" ], [ 'no space', "9path=ab\n" ], [ 'too long', "20 path=a\n" ],
    [ 'too short', "8 path=a\n" ], [ 'length 0', "0 path=a\n" ], [ 'no newline', '9 path=ab' ],
    [ 'no equals sign', "8 pathb\n" ], [ 'an empty key', "5 =a\n" ], [ 'a second record that is wrong', record(a => 'b') . 'x' ],
    [ 'NULs after the records', record(a => 'b') . "\0\0" ], [ 'a size with a sign', record(size => '-1') ],
    [ 'a size in hexadecimal', record(size => '0x10') ], [ 'an mtime that is text', record(mtime => 'now') ],
);
my @wrong = grep { my $data = $_->[1]; grep { read_all(entry($_, 'x', $data) . entry('0', 'a', '') . $end) ne "$bad\n" } 'x', 'g' } @malformed;
is(join(', ', map { $_->[0] } @wrong), '', 'malformed records');
fails(entry('0', 'a', '') . entry($_, 'x', record(path => 'b')) . $end, 'extended header without entry', "$_ at the end")
    for qw(x L K);
fails(pax(path => 'a') . global(path => 'b'), 'extended header without entry', 'x and g at the end');
fails(substr(entry('0', 'a', 'x') . pax(path => 'b'), 0, -100), 'unexpected end of archive', 'an archive that is cut');
fails(pax(size => 2000) . entry('0', 'a', 'x'), 'unexpected end of archive', 'a size beyond the end');
fails(pax(path => 'b') . entry('0', 'a', '') =~ s/0000644/0000645/r, 'wrong checksum', 'a wrong checksum');

# The command, and what worked before.
my $dir = tempdir(CLEANUP => 1);
open my $out, '>:raw', "$dir/a.tar" or die $!;
print {$out} pax(path => "$long/f") . entry('0', 'f', "one\n") . entry('2', 's', '', link => 't', prefix => 'p')
    . long($long) . entry('0', 'f', 'two') . entry('0', "$n100", '') . $end;
close $out;
is(`perl bin/tarcat list $dir/a.tar`, "0 4 $long/f\n2 0 p/s -> t\n0 3 $long\n0 0 $n100\n", 'tarcat list');
is(`perl bin/tarcat cat $dir/a.tar $long/f`, "one\n", 'tarcat cat');
