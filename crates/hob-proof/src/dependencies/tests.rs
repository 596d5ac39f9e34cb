//! What each kind of file says, before and after.

use super::*;

fn file(path: &str, before: &str, after: &str) -> PackageFile {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    PackageFile { path: path.to_owned(), before: text(before), after: text(after) }
}

/// The changes, a line each.
fn told(files: &[PackageFile]) -> String {
    let found = dependencies(files);
    let line = |change: &DependencyChange| {
        let DependencyChange { name, from, to, file, wanted, .. } = change;
        let [from, to] = [from, to].map(|version| version.as_deref().unwrap_or("-"));
        format!("{name} {from} -> {to} {file}{}", if *wanted { " wanted" } else { "" })
    };
    let unread = found.unread.first.iter().map(|path| format!("unread {path}"));
    found.first.iter().map(line).chain(unread).collect::<Vec<_>>().join("\n")
}

#[test]
fn lock_files_say_what_comes_changes_and_goes() {
    let cargo = |version: &str, more: &str| {
        format!(
            "version = 4\n[[package]]\nname = \"own\"\nversion = \"0.{version}\"\n[[package]]\nname = \"serde\"\n\
             version = \"{version}\"\nsource = \"registry+https://x\"\n{more}"
        )
    };
    let more = "[[package]]\nname = \"git\"\nversion = \"1.0.0\"\nsource = \"git+https://x#abc\"\n";
    let npm = |left: &str, more: &str| {
        format!(
            "{{\"lockfileVersion\":3,\"packages\":{{\"\":{{\"version\":\"1.0.0\"}},\"node_modules/left\":{{\"version\":\"{left}\"}}{more}}}}}"
        )
    };
    let nested = ",\"node_modules/left/node_modules/@a/b\":{\"version\":\"3.0.0\"}";
    let pnpm = "lockfileVersion: '9.0'\n\nimporters:\n  .:\n    x: 1\n\npackages:\n\n  '@a/b@1.0.0':\n    resolution: {}\n  a_b@2.0.0(c@1.0.0): {}\n";
    let old_pnpm = "lockfileVersion: 5.4\n\npackages:\n\n  /@a/b/0.9.0_peer@1.0.0:\n    resolution: {}\n";
    let yarn = "\"@a/b@^1\", \"@a/b@^1.1\":\n  version \"1.1.0\"\n\nown@workspace:.:\n  version: 0.0.0-use.local\n";
    let poetry = "[[package]]\nname = \"Flask_Login\"\nversion = \"2.0\"\n[[package]]\nname = \"own\"\nversion = \"1\"\n\
                  source = { editable = \".\" }\n";
    let gems = "PATH\n  remote: .\n  specs:\n    own (1.0)\n\nGEM\n  remote: x\n  specs:\n    rails (7.1)\n      rack (>= 2)\n    rack (2.2)\n\n\
                DEPENDENCIES\n  rails\n";
    insta::assert_snapshot!(told(&[file("Cargo.lock", &cargo("1.0.1", ""), &cargo("1.0.2", more))]), @"
    git - -> 1.0.0 (git+https://x#abc) Cargo.lock
    serde 1.0.1 -> 1.0.2 Cargo.lock
    ");
    insta::assert_snapshot!(told(&[file("web/package-lock.json", &npm("1.3.0", nested), &npm("1.3.1", ""))]), @"
    left 1.3.0 -> 1.3.1 web/package-lock.json
    @a/b 3.0.0 -> - web/package-lock.json
    ");
    insta::assert_snapshot!(told(&[file("pnpm-lock.yaml", old_pnpm, pnpm)]), @"
    a_b - -> 2.0.0 pnpm-lock.yaml
    @a/b 0.9.0 -> 1.0.0 pnpm-lock.yaml
    ");
    insta::assert_snapshot!(told(&[file("yarn.lock", "", yarn)]), @"@a/b - -> 1.1.0 yarn.lock");
    insta::assert_snapshot!(told(&[file("poetry.lock", "", poetry)]), @"flask-login - -> 2.0 poetry.lock");
    insta::assert_snapshot!(told(&[file("Pipfile.lock", "", "{\"default\":{\"a\":{\"version\":\"==1.0\"}}}")]), @"a - -> 1.0 Pipfile.lock");
    insta::assert_snapshot!(told(&[file("go.sum", "", "a.org/b v1.0.0 h1:x\na.org/b v0.9.0/go.mod h1:y\n")]), @"a.org/b - -> v1.0.0 go.sum");
    insta::assert_snapshot!(told(&[file("Gemfile.lock", gems, &gems.replace("7.1", "7.2"))]), @"rails 7.1 -> 7.2 Gemfile.lock");
    insta::assert_snapshot!(told(&[file("gradle.lockfile", "# x\n", "# x\na.b:c:1.0=runtimeClasspath\nempty=\n")]), @"a.b:c - -> 1.0 gradle.lockfile");
    let v1 = "{\"dependencies\":{\"a\":{\"version\":\"1.0.0\",\"dependencies\":{\"b\":{\"version\":\"2.0.0\"}}}}}";
    insta::assert_snapshot!(told(&[file("npm-shrinkwrap.json", "", v1)]), @"
    a - -> 1.0.0 npm-shrinkwrap.json
    b - -> 2.0.0 npm-shrinkwrap.json
    ");
}

#[test]
fn lock_files_of_bun_composer_and_dotnet_are_read() {
    let bun = |version: &str| {
        format!(
            r#"{{"lockfileVersion": 1, "workspaces": {{"": {{"name": "own",}},}},
            "packages": {{
              "own": ["own@workspace:packages/own"],
              "@a/b": ["@a/b@{version}", "", {{"dependencies": {{"c": "^1"}},}}, "sha512-,}}"],
              "x/y": ["y@2.0.0", "", {{}}, "sha512-=\""],
            }},}}"#
        )
    };
    insta::assert_snapshot!(told(&[file("web/bun.lock", &bun("1.0.0"), &bun("1.1.0"))]), @"@a/b 1.0.0 -> 1.1.0 web/bun.lock");
    assert_eq!(told(&[file("bun.lock", "", "{\"packages\": {\"a\": [3]}}")]), "unread bun.lock");
    let composer = r#"{"packages": [{"name": "m/log", "version": "2.3.0"}], "packages-dev": [{"name": "p/unit", "version": "v9"}]}"#;
    let wanted = r#"{"require": {"php": ">=8", "m/log": "^2"}, "require-dev": {"p/unit": "^9"}}"#;
    insta::assert_snapshot!(told(&[file("composer.json", "", wanted), file("composer.lock", "", composer)]), @"
    m/log - -> 2.3.0 composer.lock wanted
    p/unit - -> v9 composer.lock wanted
    ");
    let dotnet = |version: &str| {
        let json = r#"{"type": "Direct", "requested": "[13, )", "resolved": ""#;
        format!(
            r#"{{"version": 1, "dependencies": {{"net8.0": {{"N.Json": {json}{version}"}}, "own": {{"type": "Project"}}}}}}}}"#
        )
    };
    insta::assert_snapshot!(told(&[file("src/packages.lock.json", &dotnet("13.0.1"), &dotnet("13.0.3"))]), @"N.Json 13.0.1 -> 13.0.3 src/packages.lock.json");
}

#[test]
fn manifests_say_what_is_wanted() {
    let cargo = "[dependencies]\nserde = \"1\"\nown = { path = \"../own\" }\nother = { package = \"real\", version = \"2\" }\n\
                 [target.'cfg(unix)'.dev-dependencies]\nnix = { git = \"https://x\" }\n[workspace.dependencies]\nw = \"3\"\n";
    let package = "{\"dependencies\":{\"a\":\"^1\",\"own\":\"workspace:*\"},\"devDependencies\":{\"b\":\"2\"}}";
    let pyproject = "[project]\ndependencies = [\"Flask>=2\", \"x[y] == 1.0 ; python_version > '3'\"]\n\
                     [tool.poetry.group.dev.dependencies]\npytest = \"^8\"\npython = \"^3\"\n[build-system]\nrequires = [\"hatchling\"]\n";
    let list = "# a\n-r base.txt\nDjango==4.2 --hash=sha256:x\nrequests>=2 # why\nx @ https://x/y.whl\n";
    let module = "module m\n\nrequire (\n\ta.org/b v1.0.0\n\tc.org/d v2.0.0 // indirect\n)\n\nreplace a.org/b => ../b\nrequire e.org/f v3.0.0\n";
    let gems = "source \"https://x\"\ngem \"rails\", \"~> 7.0\" # web\ngem 'pry', group: :test\n";
    let pom = "<project><groupId>own</groupId><parent><groupId>p</groupId><artifactId>q</artifactId><version>1</version></parent>\
               <dependencies><dependency><groupId>a.b</groupId><artifactId>c</artifactId><version>2</version><exclusions><exclusion>\
               <groupId>no</groupId></exclusion></exclusions></dependency></dependencies><build><plugins><plugin><artifactId>r</artifactId>\
               </plugin></plugins></build></project>";
    let gradle = "dependencies {\n  implementation 'a.b:c:1.0'\n  testImplementation(\"d:e:2.0@jar\")\n}\n";
    let catalog =
        "[versions]\nk = \"1.9\"\n[libraries]\na = { module = \"x:y\", version.ref = \"k\" }\nb = \"p:q:2\"\n";
    for (path, text) in [
        ("Cargo.toml", cargo),
        ("package.json", package),
        ("pyproject.toml", pyproject),
        ("requirements-dev.txt", list),
        ("requirements/base.txt", list),
        ("go.mod", module),
        ("Gemfile", gems),
        ("pom.xml", pom),
        ("app/build.gradle", gradle),
        ("gradle/libs.versions.toml", catalog),
    ] {
        assert!(names_packages(path) && !is_lock(path), "{path}");
        assert!(!told(&[file(path, "", text)]).is_empty(), "{path}");
    }
    let all =
        [("Cargo.toml", cargo), ("package.json", package), ("pyproject.toml", pyproject), ("requirements.txt", list)];
    let files: Vec<PackageFile> = all.into_iter().map(|(path, text)| file(path, "", text)).collect();
    insta::assert_snapshot!(told(&files), @"
    nix - -> https://x Cargo.toml wanted
    real - -> 2 Cargo.toml wanted
    serde - -> 1 Cargo.toml wanted
    w - -> 3 Cargo.toml wanted
    a - -> ^1 package.json wanted
    b - -> 2 package.json wanted
    django - -> 4.2 requirements.txt wanted
    flask - -> >=2 pyproject.toml wanted
    hatchling - -> * pyproject.toml wanted
    pytest - -> ^8 pyproject.toml wanted
    requests - -> >=2 requirements.txt wanted
    x - -> 1.0, @ https://x/y.whl pyproject.toml wanted
    ");
    let all = [
        ("go.mod", module),
        ("Gemfile", gems),
        ("pom.xml", pom),
        ("b.gradle", ""),
        ("app/build.gradle", gradle),
        ("libs.versions.toml", catalog),
    ];
    let files: Vec<PackageFile> = all.into_iter().map(|(path, text)| file(path, "", text)).collect();
    insta::assert_snapshot!(told(&files), @"
    a.org/b - -> v1.0.0 go.mod wanted
    a.org/b => ../b - -> in this repository go.mod wanted
    c.org/d - -> v2.0.0 go.mod wanted
    e.org/f - -> v3.0.0 go.mod wanted
    pry - -> * Gemfile wanted
    rails - -> ~> 7.0 Gemfile wanted
    a.b:c - -> 1.0, 2 pom.xml wanted
    d:e - -> 2.0 app/build.gradle wanted
    p:q - -> 1, 2 pom.xml wanted
    r - -> * pom.xml wanted
    x:y - -> 1.9 libs.versions.toml wanted
    ");
}

#[test]
fn a_package_in_manifest_and_lock_file_is_told_once_with_what_is_installed() {
    let manifest =
        file("package.json", "{\"dependencies\":{\"a\":\"^1\"}}", "{\"dependencies\":{\"a\":\"^2\",\"new\":\"^1\"}}");
    let lock = file(
        "package-lock.json",
        "{\"packages\":{\"node_modules/a\":{\"version\":\"1.2.0\"}}}",
        "{\"packages\":{\"node_modules/a\":{\"version\":\"2.0.1\"},\"node_modules/z\":{\"version\":\"1.0.0\"}}}",
    );
    let says =
        "new - -> ^1 package.json wanted\na 1.2.0 -> 2.0.1 package-lock.json wanted\nz - -> 1.0.0 package-lock.json";
    assert_eq!(told(&[manifest.clone(), lock.clone()]), says);
    assert_eq!(told(&[lock, manifest]), says);
}

#[test]
fn what_cannot_be_read_is_named_and_what_did_not_change_is_not() {
    assert_eq!(told(&[file("Cargo.lock", "", "<<<<<<< ours")]), "unread Cargo.lock");
    assert_eq!(told(&[file("pnpm-lock.yaml", "", "not one")]), "unread pnpm-lock.yaml");
    assert_eq!(told(&[file("package.json", "{\"scripts\":{}}", "{\"scripts\":{\"a\":\"b\"}}")]), "");
    assert_eq!(told(&[file("src/main.rs", "a", "b")]), "");
    assert!(is_lock("a/flake.lock") && is_lock("bun.lockb") && !is_lock("src/lock.rs"));
    let many: String = (0..300).map(|n| format!("m{n} v1 h1:x\n")).collect();
    let found = dependencies(&[file("go.sum", "", &many)]);
    assert!(found.all == 300 && found.first.len() < 300);
}
