use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More tests => 2;

use Matrix;

is_deeply(
    [ Matrix::expand({
        axes     => { os => [ 'linux', 'bsd' ] },
        defaults => { name => 'test on {os}', timeout => 10 },
        override => [ { when => { os => 'bsd' }, set => { timeout => 20 } } ],
    }) ],
    [
        { axes => { os => 'linux' }, name => 'test on linux', timeout => 10 },
        { axes => { os => 'bsd' }, name => 'test on bsd', timeout => 20 },
    ],
    'names and an override'
);

is_deeply(
    [ map { join ' ', @{ $_->{axes} }{qw(os perl)} } Matrix::expand({
        axes    => { perl => [ '5.30', '5.36' ], os => [ 'linux', 'bsd' ] },
        exclude => [ { os => 'bsd', perl => '5.30' } ],
    }) ],
    [ 'linux 5.30', 'linux 5.36', 'bsd 5.36' ],
    'an exclusion'
);
