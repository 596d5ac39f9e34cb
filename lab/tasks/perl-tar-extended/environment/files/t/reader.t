use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More tests => 3;

use Tar::Reader;

# The blocks of a file.
sub file {
    my ($name, $data) = @_;
    my $header = pack 'a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 x247', $name, '0000644',
        '0000000', '0000000', sprintf('%011o', length $data), '14700000000', '', '0', '', 'ustar', '00';
    substr $header, 148, 8, sprintf "%06o\0 ", unpack '%32C*', $header;
    return $header . $data . "\0" x (-length($data) % 512);
}

my $archive = file('a', 'one') . file('dir/b', 'x' x 512) . "\0" x 1024;
open my $in, '<:raw', \$archive or die $!;
my $reader = Tar::Reader->new($in);

my $entry = $reader->next;
is_deeply([ @$entry{qw(path type size data)} ], [ 'a', '0', 3, 'one' ], 'a small file');
is($reader->next->{path}, 'dir/b', 'a file of one whole block');
is($reader->next, undef, 'the end');
