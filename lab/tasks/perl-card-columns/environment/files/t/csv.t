use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More tests => 1;

use Cards::Parser;
use Cards::Report;

my @cards = Cards::Parser::parse(<<'END');
BEGIN:VCARD
VERSION:3.0
FN:Ada Wong
ORG:Wong & Sons
TITLE:Owner
EMAIL;TYPE=work:ada@example.org
TEL:+1 555 0100
NOTE:Says "hi"\, always
END:VCARD
END

is(Cards::Report::csv(@cards), <<'END', 'a card with all columns');
name,organization,title,mail,phone,note
Ada Wong,Wong & Sons,Owner,ada@example.org,+1 555 0100,"Says ""hi"", always"
END
