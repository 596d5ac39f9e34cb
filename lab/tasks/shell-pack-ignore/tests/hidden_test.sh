#!/usr/bin/env bash
# Hidden tests of packlist; run in the project's folder.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
app=$PWD
passed=0
failed=0

check() { # check WHAT EXPECTED ACTUAL
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n--- expected\n%s\n--- actual\n%s\n' "$1" "$2" "$3"
    fi
}

# Paths are given as one line each, with a sign: "+ path" is to be kept,
# "- path" to be excluded.
case_of() { # case_of WHAT RULES PATHS
    printf '%s\n' "$2" >"$work/ignore"
    check "$1" "$(sed -n 's/^+ //p' <<<"$3")" \
        "$(sed 's/^[-+] //' <<<"$3" | bash bin/packlist -i "$work/ignore" 2>&1)"
}

case_of "a name, anywhere" "build
*.o" "\
- build
- build/x
- docs/build
- docs/build/a/b
+ builder
+ docs/build.md
- main.o
- src/main.o
+ src/main.o.c
- x.o/readme"

case_of "a slash at the end: folders only" "build/
*.d/" "\
+ build
- build/x
+ docs/build
- docs/build/x
- src/a.d/b/c
+ src/a.d"

case_of "a slash at the start: from the top" "/build
/*.txt" "\
- build
- build/x
+ src/build
+ src/build/x
- a.txt
+ docs/a.txt"

case_of "a slash in the middle: from the top" "docs/*.html
a/b/" "\
- docs/a.html
- docs/.html
+ docs/en/a.html
+ old/docs/a.html
+ docs/a.htm
- a/b/c
+ a/b
+ x/a/b/c"

case_of "wildcards and slashes" "src/*
!src/*.c
a?b
x[!z]y
p[^z]q
r[+-9]s" "\
+ src/main.c
- src/main.h
- src/lib/main.c
+ a/b
- a-b
+ ab
+ x/y
- x-y
+ xzy
+ p/q
- p-q
+ pzq
+ r/s
- r5s
- r.s"

case_of "a star does not go into folders" "top/*/leaf" "\
- top/a/leaf
+ top/leaf
+ top/a/b/leaf
- top/a/leaf/more"

case_of "brackets" 'a[]x]
b[!]x]
c[x\]y]
d[\!x]
e[a-]
f[\\]
g[(]h
[0-9][0-9].log' "\
- a]
- ax
+ aa
+ b]
+ bx
- ba
- c]
- cx
- cy
+ c\\
- d!
- dx
+ da
- e-
- ea
+ eb
- f\\
+ ff
- g(h
- 01.log
+ 1.log
+ 012.log"

case_of "exceptions, the last rule decides" "*.log
!keep.log
/old/*.log
!/old/keep.log
keep.log/" "\
- a.log
+ keep.log
+ x/y/keep.log
- old/a.log
+ old/keep.log
- keep.log/a
+ a.txt"

case_of "a later rule excludes again" "*.log
!keep*
keep2*" "\
+ keep1.log
- keep2.log
- other.log
- keep2"

case_of "nothing comes back from an excluded folder" "logs
!logs/keep.txt
!keep.txt" "\
- logs/keep.txt
- a/logs/b/keep.txt
+ keep.txt"

case_of "nor from one further up" "/data/*
!/data/raw/x
!x" "\
- data/raw/x
- data/raw/deep/x
+ data/x
+ x"

case_of "but it does from one that is not excluded itself" "logs/*
!logs/keep.txt" "\
+ logs/keep.txt
- logs/a.txt
- logs/sub/keep.txt"

case_of "everything but some files, the folders being brought back" '*
!*/
!*.pl' "\
+ a.pl
+ x/y/b.pl
- x/y/c
- d"

case_of "a folder excluded, then brought back" '/var/*
!/var/lib/
/var/lib/*
!/var/lib/keep' "\
+ var/lib/keep
- var/lib/a
- var/run/keep
- var/lib2/keep"

case_of "stars at the start" "**/x
**/a/b
!**/c/**/x" "\
- x
- p/x
- p/q/x
- p/x/q
+ xx
- a/b
- p/a/b
- p/q/a/b/r
+ p/a/c/b
+ c/x
+ p/c/q/r/x
- d/e/x"

case_of "stars in the middle" "a/**/x
m/*/**/n
s/**/**/t
u/**/v/**/w" "\
- a/x
- a/b/x
- a/b/c/x
+ p/a/x
+ a/b/xx
+ ax
+ a/b
- a/x/y
+ m/n
- m/a/n
- m/a/b/n
- s/t
- s/1/2/3/t
+ st
- u/v/w
- u/1/v/2/v/w
- u/1/2/v/3/4/w
+ u/1/w
+ u/w/v"

case_of "stars that must try again" "**/a/*/b/**/c" "\
- a/x/b/c
- a/a/x/b/c
- a/b/b/b/c
- q/a/1/2/a/b/b/x/y/c
+ a/b/c
+ a/1/2/b/c"

case_of "stars at the end" "a/**
b/c/**
!a/**/
!a/keep" "\
+ a
+ a/keep
- a/x
- a/sub/x
+ p/a/x
+ b/c
- b/c/d
- b/c/d/e
+ b/x"

case_of "only stars" "**" "\
- a
- b/c
- .d"

case_of "only stars, folders only" "**/" "\
+ a
- b/c"

case_of "only stars, tied" "/**
!/a/
!/a/b" "\
- x
+ a/b
- a/c
- c/d"

case_of "stars within a name" "a**b
x/c**" "\
- ab
- aXYb
- p/a.b
+ a/b
+ p/a/b
- x/c
- x/c1/y
+ x/d"

case_of "backslashes" '\#a
\!b
c\*
d\?e
\f
g\\h
i\[j]
k/\*/l
\**' "\
- #a
- !b
- c*
+ c1
- d?e
+ d1e
- f
+ \\f
- g\\h
- i[j]
+ ij
- k/*/l
+ k/1/l
- *
- *x
+ x*"

case_of "comments and exclamation marks inside" 'a#b
a!b
#c
*d
!#d' "\
- a#b
- a!b
+ c
+ #c
+ #d
- d"

case_of "spaces" 'a  
b\ 
 c
d\\ 
e\  
f g
   
!
/
!/' "$(printf '%s\n' '- a' '+ a  ' '+ b' '- b ' '+ c' '-  c' '- d\' '+ d\ ' '+ e' '- e ' '+ e  ' '- f g' '+ f' '+    ')"

case_of "other characters are literal" '@(a|b)
+(x)
?(y)
*(z)
!!(w)
{c,d}
$e
~
^f
g.h
k+
[@](a)
q@(/r' "\
- @(a|b)
+ a
+ b
- +(x)
+ x
+ xx
- 1(y)
+ y
- (z)
- zz(z)
+ z
+ zzz
+ c
- {c,d}
- \$e
- ~
- ^f
+ f
- g.h
+ gxh
- k+
+ kk
- @(a)
- q@(/r
- q@(/r/s"

case_of "an exception that looks like an extended pattern" '*w*
!!(w)' "\
+ !(w)
- w
- ww"

case_of "names that start with a dot" '*.swp
.?*
!.config/
a/*' "\
- .swp
- .a
- .git/x
- x/.hidden
+ .config/x
- a/.b"

case_of "paths that look like patterns" 'abc
x/y' "\
+ a*
+ [a]bc
+ a?c
+ x/*
+ */y
- x/y"

# The folders are not looked up.
mkdir -p "$work/here/build/sub" "$work/here/empty"
: >"$work/here/plain"
printf 'build/\nplain/\n!*.x\n' >"$work/here/.packignore"
check "nothing is looked up on disk, the default file" $'build\nempty\nplain' \
    "$(cd "$work/here" && printf '%s\n' build build/sub empty plain plain/a |
        bash "$app/bin/packlist")"

# What worked before.
printf '*.o' >"$work/ignore"
check "no last newline" $'a.c\nb c.c' "$(printf 'a.c\na.o\n\nb c.c' | bash bin/packlist -i "$work/ignore")"
check "order and repetition" $'z\na\nz' "$(printf 'z\na\nx.o\nz\n' | bash bin/packlist -i "$work/ignore")"
: >"$work/ignore"
check "no rules" $'a\nb/c' "$(printf 'a\nb/c\n' | bash bin/packlist -i "$work/ignore" 2>&1)"
mkdir "$work/none"
check "no ignore file" "a" "$(cd "$work/none" && echo a | bash "$app/bin/packlist" 2>&1)"
bash bin/packlist -i "$work/missing" </dev/null >/dev/null 2>&1
check "an ignore file that is missing" 1 $?
bash bin/packlist extra </dev/null >/dev/null 2>&1
check "wrong usage" 2 $?

echo "$passed passed, $failed failed"
((failed == 0 && passed == 36))
