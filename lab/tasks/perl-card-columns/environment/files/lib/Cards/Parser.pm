package Cards::Parser;

# Reads the lines of vCard 3.0 and 4.0.

use strict;
use warnings;

use Cards::Card;

# The cards of a text, as a list.
sub parse {
    my ($text) = @_;
    $text =~ s/\r\n?/\n/g;
    # A line that starts with white space continues the one before.
    $text =~ s/\n[ \t]//g;

    my (@cards, $card);
    for my $line (split /\n/, $text) {
        # Parameters (";TYPE=work") and a group ("item1.") do not matter here.
        my ($name, $value) = $line =~ /\A(?:[\w-]+\.)?([\w-]+)(?:;[^:"]*(?:"[^"]*"[^:"]*)*)?:(.*)\z/
            or next;
        $name = uc $name;
        if ($name eq 'BEGIN') {
            $card = Cards::Card->new;
        }
        elsif ($name eq 'END') {
            push @cards, $card if $card;
            undef $card;
        }
        elsif ($card) {
            $card->add($name, $name eq 'N' || $name eq 'ADR' ? $value : unescape($value));
        }
    }
    return @cards;
}

sub unescape {
    my ($value) = @_;
    $value =~ s/\\(.)/$1 eq 'n' || $1 eq 'N' ? "\n" : $1/ge;
    return $value;
}

1;
