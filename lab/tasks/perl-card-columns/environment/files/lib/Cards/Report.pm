package Cards::Report;

# The tables. Each function takes cards and returns the text.

use strict;
use warnings;

sub csv {
    my (@cards) = @_;
    my $text = "name,organization,title,mail,phone,note\n";
    for my $card (@cards) {
        my @row = (
            $card->first('FN'),
            $card->first('ORG'),
            $card->first('TITLE'),
            $card->first('EMAIL'),
            $card->first('TEL'),
            $card->first('NOTE'),
        );
        $text .= join(',', map { quote($_) } @row) . "\n";
    }
    return $text;
}

sub list {
    my (@cards) = @_;
    my $text = '';
    for my $card (@cards) {
        my %entry = (
            name => $card->first('FN'),
            mail => $card->first('EMAIL'),
            town => $card->component('ADR', 3),
        );
        $text .= $entry{name} // '(no name)';
        $text .= " <$entry{mail}>" if defined $entry{mail};
        $text .= ", $entry{town}" if defined $entry{town};
        $text .= "\n";
    }
    return $text;
}

sub duplicates {
    my (@cards) = @_;
    my %names;
    for my $card (@cards) {
        for my $mail ($card->all('EMAIL')) {
            push @{ $names{ lc $mail } }, $card->first('FN') // '(no name)';
        }
    }
    return join '',
        map { "$_: " . join(', ', @{ $names{$_} }) . "\n" }
        grep { @{ $names{$_} } > 1 }
        sort keys %names;
}

sub quote {
    my ($value) = @_;
    $value //= '';
    return $value unless $value =~ /[",\n]/;
    return '"' . ($value =~ s/"/""/gr) . '"';
}

1;
