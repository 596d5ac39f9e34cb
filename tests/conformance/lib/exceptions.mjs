// Where an answer may be other than GitHub's description says, and why. Each entry names what it is about; one that no
// answer needed fails the run, so that the list cannot rot.

/**
 * Statuses that the description leaves out of most operations because every endpoint can have them.
 * <https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api>
 */
export const ANYWHERE = {
  304: "conditional requests work on every GET: best practices for using the REST API",
  400: "a body that is no JSON is refused before any endpoint looks at it: troubleshooting the REST API",
  401: "bad or absent credentials are refused before any endpoint is reached: authenticating to the REST API",
  403: "rights that do not reach and used-up rate limits: troubleshooting the REST API",
  404: "what the account may not see does not exist for it: troubleshooting the REST API",
  410: "issues that a repository has turned off: the operation of one issue documents it, and the list answers it too",
  422: "a field with a value that cannot be: troubleshooting the REST API",
};

/** Answers whose media type the description does not have. */
export const MEDIA_TYPES = [
  {
    operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}",
    mediaType: "application/vnd.github.diff",
    reason: "the description has JSON only; the documentation of the operation names the diff media type",
  },
  {
    operation: "GET /repos/{owner}/{repo}/compare/{basehead}",
    mediaType: "application/vnd.github.diff",
    reason: "the description has JSON only; the documentation of the operation names the diff media type",
  },
];

/** Headers that the description has and no answer can. */
export const HEADERS = [
  {
    operation: "DELETE /repos/{owner}/{repo}/issues/{issue_number}/sub_issue",
    header: "Location",
    reason: "it answers 200 and makes nothing; its example, …/sub-issue, is the address of no endpoint",
  },
];

/** Fields that GitHub sends and the description leaves out. */
export const UNDOCUMENTED = [
  { field: /^\/status$/, reason: "every error has it; the description has it of the basic error only" },
  { field: /^\/installed_version$/, reason: "GitHub Enterprise Server's, which clients read to tell it from github.com" },
  { field: /^\/\d+\/state_reason$/, reason: "of `closed` events, by the documentation of event types" },
];

/** Answers that the description gives wrongly. */
export const ANSWERS = [
  {
    operation: "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments",
    status: 200,
    wrong: /^\/\d+\/position must be integer, is null$/,
    reason: "a comment on an older head has no position; of a review and in webhooks the description allows null",
  },
  {
    operation: "GET /search/issues",
    status: 200,
    wrong: /^\/items\/\d+\/body must be string, is null$/,
    reason: "an issue without a text has null, which the description allows everywhere else",
  },
  {
    operation: "GET /app/installations",
    status: 200,
    wrong: /^\/\d+\/account must /,
    reason: "the account would have to be a user and an enterprise at once; the single installation's schema says or",
  },
  {
    operation: "POST /repos/{owner}/{repo}/git/blobs",
    status: 422,
    wrong: /^the body fits several alternatives$/,
    reason: "of its two schemas one requires nothing, so that each error of the other kind is of both",
  },
  {
    operation: "PUT /repos/{owner}/{repo}/contents/{path}",
    status: 409,
    wrong: /^the body fits several alternatives$/,
    reason: "of its two schemas one requires nothing, so that each error of the other kind is of both",
  },
];
