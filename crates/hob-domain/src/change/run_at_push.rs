//! Files that a service runs at the push of a branch, before anybody has read the change and with what the repository's
//! own branches get: its secrets, its runners. They are protected, as workflows of GitHub are.
//!
//! # Caveats
//! - Most services can be told to read another file: name that in `protected`.
//! - What these files run in turn, such as `npm run build`, is all of the work.

/// A service, and the globs of the files that it runs. `docs/design/run-elsewhere.md` has its source.
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) globs: &'static [&'static str],
}

const fn service(name: &'static str, globs: &'static [&'static str]) -> Service {
    Service { name, globs }
}

/// The services. Where one can read its file from any folder, the glob begins with `**/`.
pub(super) const SERVICES: [Service; 55] = [
    service("GitHub Actions", &[".github/actions/**"]),
    service("AppVeyor", &["appveyor.yml", ".appveyor.yml", "appveyor.yaml", ".appveyor.yaml"]),
    service("Atlantis", &["atlantis.yaml"]),
    service("AWS Amplify", &["**/amplify.yml"]),
    service("AWS CodeBuild", &["**/buildspec*.yml", "**/buildspec*.yaml"]),
    service(
        "Azure Pipelines",
        &[
            "**/azure-pipelines*.yml",
            "**/azure-pipelines*.yaml",
            ".azure-pipelines/**",
            "azure-pipelines/**",
            ".azuredevops/**",
            ".vsts-ci.yml",
        ],
    ),
    service("Bamboo", &["bamboo-specs/**"]),
    service("Bazel CI", &[".bazelci/**"]),
    service("Bitbucket Pipelines", &["bitbucket-pipelines.yml"]),
    service("Bitrise", &["bitrise.yml"]),
    service("Buddy", &["buddy.yml", ".buddy/**"]),
    service("BuildBuddy", &["buildbuddy.yaml"]),
    service("Buildkite", &[".buildkite/**", "buildkite.{yml,yaml,json}", "buildkite/**"]),
    service("CircleCI", &[".circleci/**", "circle.yml"]),
    service("CloudBees", &[".cloudbees/**"]),
    service("Cloudflare", &["**/wrangler.{toml,json,jsonc}", "**/.wrangler/deploy/config.json"]),
    service("Codefresh", &["codefresh.yml", ".codefresh/**"]),
    service("Codemagic", &["codemagic.yaml"]),
    service("Dagger", &["dagger.toml", "dagger.json", ".dagger/**"]),
    service("Depot CI", &[".depot/**"]),
    service("Drone", &[".drone.{yml,yaml,star,starlark,jsonnet}"]),
    service("EAS Workflows", &["**/.eas/workflows/**"]),
    service("Evergreen", &[".evergreen.yml", "**/evergreen.yml", ".evergreen/**"]),
    service("Fedora Copr", &[".copr/**"]),
    service("Forgejo Actions", &[".forgejo/workflows/**", ".forgejo/actions/**"]),
    service("Gitea Actions", &[".gitea/workflows/**", ".gitea/actions/**"]),
    service("GitLab CI", &["**/.gitlab-ci.yml", "**/*.gitlab-ci.yml", ".gitlab-ci/**", ".gitlab/ci/**"]),
    service("GoCD", &["**/*.gocd.{yaml,yml}", "**/*.gopipeline.json"]),
    service("Google Cloud Build", &["**/cloudbuild*.{yaml,yml,json}", ".cloudbuild/**"]),
    service("Google Kokoro", &[".kokoro/**", "kokoro/**"]),
    service("Harness", &[".harness/**"]),
    service("Heroku CI", &["heroku.yml"]),
    service("Jenkins", &["**/Jenkinsfile", "**/Jenkinsfile.*", "**/*.jenkinsfile", ".jenkins/**"]),
    service("Jenkins X", &[".lighthouse/**"]),
    service("Lagoon", &[".lagoon.yml"]),
    service("Netlify", &["**/netlify.toml", ".netlify/**"]),
    service("Open Build Service", &[".obs/workflows.yml"]),
    service("Packit", &[".packit.{yml,yaml}", "packit.{yml,yaml}"]),
    service("Pipelines as Code", &[".tekton/**"]),
    service("Prow", &[".prow.yaml", ".prow/**"]),
    service("Render", &["render.yaml"]),
    service("RWX", &[".rwx/**", ".mint/**"]),
    service("Screwdriver", &["screwdriver.yaml"]),
    service("Semaphore", &[".semaphore/**"]),
    service("SourceHut builds", &[".build.yml", ".build.yaml", ".builds/**"]),
    service("Spacelift", &[".spacelift/**"]),
    service("Taskcluster", &[".taskcluster.yml", "taskcluster/**"]),
    service("TeamCity", &[".teamcity/**", ".teamcity.yml"]),
    service("Travis CI", &[".travis.yml", ".travis/**"]),
    service("Upsun", &[".upsun/**", "**/.platform.app.yaml", ".platform/**"]),
    service("Vela", &[".vela.{yml,yaml,star,py}"]),
    service("Vercel", &["**/vercel.{json,toml,ts,mts,js,mjs,cjs}", ".vercel/**"]),
    service("Woodpecker", &[".woodpecker.{yml,yaml}", ".woodpecker/**"]),
    service("Xcode Cloud", &["**/ci_scripts/**"]),
    service("Zuul", &[".zuul.yaml", "zuul.yaml", ".zuul.d/**", "zuul.d/**"]),
];

/// Each glob, after its service.
pub(super) fn globs() -> impl Iterator<Item = (&'static str, &'static str)> {
    SERVICES.iter().flat_map(|service| service.globs.iter().map(|glob| (service.name, *glob)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_service_with_its_files_and_a_source_and_no_other() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/run-elsewhere.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows =
            page.lines().filter_map(|line| line.strip_suffix(") |")?.split_once("](https://")?.0.rsplit_once(" | ["));
        let written: Vec<&str> = rows.map(|(row, _kind)| row).collect();
        let files = |service: &Service| {
            let globs: Vec<_> = service.globs.iter().map(|glob| format!("`{glob}`")).collect();
            format!("| {} | {}", service.name, globs.join(", "))
        };
        assert_eq!(written, SERVICES.iter().map(files).collect::<Vec<_>>());
    }
}
