# Hidden tests of matrix; run in the project's folder.
use strict;
use warnings;

use File::Temp qw(tempdir);
use Test::More tests => 23;

use JSON::PP;
use lib 'lib';
use Matrix;
use Matrix::Merge qw(merge);

sub spec { return decode_json($_[0]) }

my $json = JSON::PP->new->canonical;

# Expands a specification; checks on the way that it is left as it was and that
# a second call gives the same.
sub jobs {
    my ($what, $text) = @_;
    my $spec = spec($text);
    my @jobs = Matrix::expand($spec);
    is($json->encode($spec), $json->encode(spec($text)), "$what: the specification is unchanged");
    is_deeply([ Matrix::expand($spec) ], \@jobs, "$what: a second call gives the same");
    return \@jobs;
}

is_deeply(jobs('env', <<'END'), spec(<<'JOBS'), 'the example of the issue');
{ "axes": { "os": ["linux", "bsd"] },
  "defaults": { "name": "on {os}", "env": { "IMAGE": "ci/{os}" } } }
END
[ { "axes": { "os": "linux" }, "env": { "IMAGE": "ci/linux" }, "name": "on linux" },
  { "axes": { "os": "bsd" }, "env": { "IMAGE": "ci/bsd" }, "name": "on bsd" } ]
JOBS

is_deeply(jobs('deep', <<'END'), spec(<<'JOBS'), 'lists and objects within each other');
{ "axes": { "n": [1, 2, 3] },
  "defaults": { "a": [["{n}", "{m}"], { "b": [{ "c": "{n}{n}" }] }] } }
END
[ { "axes": { "n": 1 }, "a": [["1", "{m}"], { "b": [{ "c": "11" }] }] },
  { "axes": { "n": 2 }, "a": [["2", "{m}"], { "b": [{ "c": "22" }] }] },
  { "axes": { "n": 3 }, "a": [["3", "{m}"], { "b": [{ "c": "33" }] }] } ]
JOBS

is_deeply(jobs('append', <<'END'), spec(<<'JOBS'), 'lists of the defaults that overrides append to');
{ "axes": { "os": ["bsd", "linux", "mac"] },
  "defaults": { "steps": ["build"], "env": { "path": ["/bin"] } },
  "override": [ { "when": { "os": "bsd" }, "set": { "steps+": ["report {os}"], "env": { "path+": ["/pkg"] } } },
                { "when": { "os": "mac" }, "set": { "steps+": ["sign"], "more+": ["x"] } } ] }
END
[ { "axes": { "os": "bsd" }, "steps": ["build", "report bsd"], "env": { "path": ["/bin", "/pkg"] } },
  { "axes": { "os": "linux" }, "steps": ["build"], "env": { "path": ["/bin"] } },
  { "axes": { "os": "mac" }, "steps": ["build", "sign"], "env": { "path": ["/bin"] }, "more": ["x"] } ]
JOBS

is_deeply(jobs('override', <<'END'), spec(<<'JOBS'), 'values of overrides that several jobs share');
{ "axes": { "a": ["x", "y"], "b": ["1", "2"] },
  "override": [ { "when": { "a": "x" }, "set": { "env": { "V": "{b}" }, "steps": ["{a}{b}"], "l+": [["{b}"]] } },
                { "when": { "b": "1" }, "set": { "env": { "W": "{a}" }, "steps+": ["one"] } },
                { "set": { "steps+": [{ "last": "{b}" }] } } ] }
END
[ { "axes": { "a": "x", "b": "1" }, "env": { "V": "1", "W": "x" }, "steps": ["x1", "one", { "last": "1" }], "l": [["1"]] },
  { "axes": { "a": "x", "b": "2" }, "env": { "V": "2" }, "steps": ["x2", { "last": "2" }], "l": [["2"]] },
  { "axes": { "a": "y", "b": "1" }, "env": { "W": "y" }, "steps": ["one", { "last": "1" }] },
  { "axes": { "a": "y", "b": "2" }, "steps": [{ "last": "2" }] } ]
JOBS

is_deeply(jobs('both keys', <<'END'), spec(<<'JOBS'), 'a list replaced and appended to by one override');
{ "axes": { "a": ["x", "y"] },
  "override": [ { "set": { "s": ["1"], "s+": ["2"] } } ] }
END
[ { "axes": { "a": "x" }, "s": ["1", "2"] }, { "axes": { "a": "y" }, "s": ["1", "2"] } ]
JOBS

# A caller that changes a job.
my $text = '{ "axes": { "a": ["x", "y"] }, "defaults": { "e": { "l": [1] }, "h": {} },'
    . ' "override": [ { "set": { "o": { "p": [2] }, "q+": [[3]] } } ] }';
my $spec = spec($text);
my @jobs = Matrix::expand($spec);
push @{ $jobs[0]{e}{l} }, 'new';
$jobs[0]{h}{new} = 1;
push @{ $jobs[0]{o}{p} }, 'new';
push @{ $jobs[0]{q}[0] }, 'new';
$jobs[0]{axes}{a} = 'new';
is_deeply($jobs[1], spec('{ "axes": { "a": "y" }, "e": { "l": [1] }, "h": {}, "o": { "p": [2] }, "q": [[3]] }'),
    'a change of one job does not show in another');
is($json->encode($spec), $json->encode(spec($text)), 'nor in the specification');
is(scalar(grep { $_->{axes}{a} eq 'new' } Matrix::expand($spec)), 0, 'nor in a second answer');

# merge alone.
is_deeply(merge({ a => { b => 1, c => [1] }, d => 1, e => [1] }, { a => { b => 2 }, d => { x => 1 }, 'e+' => [2] }),
    { a => { b => 2, c => [1] }, d => { x => 1 }, e => [ 1, 2 ] }, 'merge');

# The command, with numbers, true, null.
my $dir = tempdir(CLEANUP => 1);
sub command {
    open my $out, '>', "$dir/ci.json" or die $!;
    print {$out} $_[0];
    close $out;
    my $answer = `perl bin/matrix $dir/ci.json`;
    return $json->encode(eval { decode_json($answer) } // [ "no JSON: $answer" ]);
}
is(command('{ "axes": { "os": ["linux", "bsd"], "perl": ["5.30", "5.36"] },
    "exclude": [ { "os": "bsd", "perl": "5.30" } ],
    "defaults": { "name": "test on {os}", "env": { "LANG": "C" }, "steps": ["build", "test"] },
    "override": [ { "when": { "os": "bsd" }, "set": { "env": { "MAKE": "gmake" }, "steps+": ["report"] } } ] }'),
    $json->encode(spec('[
    { "axes": { "os": "linux", "perl": "5.30" }, "name": "test on linux", "env": { "LANG": "C" }, "steps": ["build", "test"] },
    { "axes": { "os": "linux", "perl": "5.36" }, "name": "test on linux", "env": { "LANG": "C" }, "steps": ["build", "test"] },
    { "axes": { "os": "bsd", "perl": "5.36" }, "name": "test on bsd", "env": { "LANG": "C", "MAKE": "gmake" }, "steps": ["build", "test", "report"] } ]')),
    'the example of the README');
is(command('{ "defaults": { "t": 10, "f": 1.5, "y": true, "l": [false, null, "7"], "e": { "x": "{os}", "empty": [] } } }'),
    '[{"axes":{},"e":{"empty":[],"x":"{os}"},"f":1.5,"l":[false,null,"7"],"t":10,"y":true}]',
    'numbers, true, false and null stay what they are');
is(command('{ "axes": { "os": [] }, "defaults": { "a": 1 } }'), '[]', 'an axis without values');

is_deeply([ map { $_->{axes} } Matrix::expand({ axes => { b => [ 1, 2 ], a => [ 'x', 'y' ] } }) ],
    [ { a => 'x', b => 1 }, { a => 'x', b => 2 }, { a => 'y', b => 1 }, { a => 'y', b => 2 } ],
    'the order of the combinations');
