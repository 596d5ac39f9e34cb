# Hidden tests of cards; run in the project's folder.
use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More tests => 26;

use lib 'lib';
use Cards::Card;
use Cards::Parser;
use Cards::Report;

my @warnings;
local $SIG{__WARN__} = sub { push @warnings, @_ };

my $head = "name,organization,title,mail,phone,note\n";

sub card {
    my (@pairs) = @_;
    my $card = Cards::Card->new;
    while (my ($name, $value) = splice @pairs, 0, 2) {
        $card->add($name, $value);
    }
    return $card;
}

# The CSV.
my %all = (FN => 'n', ORG => 'o', TITLE => 't', EMAIL => 'm', TEL => 'p', NOTE => 'x');
my @columns = qw(FN ORG TITLE EMAIL TEL NOTE);
is(Cards::Report::csv(card(FN => 'Ben Ito', EMAIL => 'ben@example.org', TEL => '+1 555 0199')),
    $head . "Ben Ito,,,ben\@example.org,+1 555 0199,\n", 'the example of the issue');
for my $missing (@columns) {
    my @have = grep { $_ ne $missing } @columns;
    is(Cards::Report::csv(card(map { $_ => $all{$_} } @have)),
        $head . join(',', map { $_ eq $missing ? '' : $all{$_} } @columns) . "\n",
        "a card without $missing");
}
is(Cards::Report::csv(card()), $head . ",,,,,\n", 'a card without anything');
is(Cards::Report::csv(card(NOTE => 'a, "b"'), card(FN => 'x')),
    $head . qq{,,,,,"a, ""b"""\nx,,,,,\n}, 'several cards, quotes');
is(Cards::Report::csv(), $head, 'no cards');

# The list.
my $address = ';;1 Pier Road;Dover;;;UK';
is(Cards::Report::list(card(FN => 'Cy Doe', ADR => $address)), "Cy Doe, Dover\n", 'no mail');
is(Cards::Report::list(card(FN => 'Ben Ito', EMAIL => 'b@c')), "Ben Ito <b\@c>\n", 'no address');
is(Cards::Report::list(card(FN => 'Cy Doe')), "Cy Doe\n", 'only a name');
is(Cards::Report::list(card(FN => 'Cy', EMAIL => 'c@d', ADR => ';;1 Pier Road;;;;UK')),
    "Cy <c\@d>\n", 'an address without town');
is(Cards::Report::list(card(EMAIL => 'c@d', ADR => $address)), "(no name) <c\@d>, Dover\n", 'no name');
is(Cards::Report::list(card()), "(no name)\n", 'nothing at all');

# The methods, in a list.
my $card = card(FN => 'Di', N => 'Roe;Di\\;a;;', NOTE => '', NOTE => 'two');
is_deeply([ $card->first('FN'), $card->first('TEL'), $card->first('note') ], [ 'Di', undef, '' ],
    'first gives one value each');
is_deeply({ tel => $card->first('TEL'), name => $card->first('fn') }, { tel => undef, name => 'Di' },
    'first in a hash');
is_deeply([ map { $card->component('N', $_) } 0 .. 5 ], [ 'Roe', 'Di;a', undef, undef, undef, undef ],
    'component gives one value each');
is_deeply([ $card->component('ADR', 3), 1 ], [ undef, 1 ], 'a component of a missing property');
is_deeply([ $card->all('TEL') ], [], 'all gives no values of a missing property');
is_deeply([ $card->all('NOTE') ], [ '', 'two' ], 'all gives all of them');

# Duplicates, as before.
is(Cards::Report::duplicates(
        card(FN => 'A', EMAIL => 'X@y'), card(EMAIL => 'x@Y', EMAIL => 'z@y'),
        card(FN => 'C', EMAIL => 'q@y'), card(FN => 'D')),
    "x\@y: A, (no name)\n", 'duplicates');

is_deeply(\@warnings, [], 'no warnings');

# The command.
my $dir = tempdir(CLEANUP => 1);
open my $out, '>', "$dir/book.vcf" or die $!;
print {$out} "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ben\r\n  Ito\r\nitem1.TEL;TYPE=\"a:b\":+1\r\nEND:VCARD\r\n",
    "BEGIN:VCARD\nADR:;;1 Pier Road;Dover;;;UK\nEMAIL:a\@b\nEND:VCARD\n";
close $out;
is(scalar `perl bin/cards csv $dir/book.vcf 2>&1`, $head . "Ben Ito,,,,+1,\n,,,a\@b,,\n", 'cards csv');
is(scalar `perl bin/cards list $dir/book.vcf 2>&1`, "Ben Ito\n(no name) <a\@b>, Dover\n", 'cards list');
