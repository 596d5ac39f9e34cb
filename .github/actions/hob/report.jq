# One part of the report, as the variable `part` says: outputs, log, summary, annotations or exit.

# Foreign text on one line, and not too much of it.
def line: tostring | gsub("[[:cntrl:]\u0085\u2028\u2029]+"; " ") | if length > 300 then .[0:300] + "…" else . end;
# As text in Markdown: no link, image, mention, HTML or cell's end.
def markdown: line | gsub("(?<c>[!-,./:-@\\[-`{-~])"; "\\\(.c)");
# As the text, or the title, of a workflow command. The old form of commands, `##[`, counts anywhere in a line.
def data: line | gsub("##\\["; "## [") | gsub("%"; "%25");
def property: data | gsub(":"; "%3A") | gsub(","; "%2C");
def numbers: map(select(type == "number") | floor) | unique | tojson;
# Two digits after the point, and four where cents would show as nothing.
def dollars:
  def pad($n): tostring | if length < $n then "0" * ($n - length) + . else . end;
  if . > 0 and . < 0.01 then "0." + (. * 10000 | round | pad(4))
  else (. * 100 | round) as $cents | "\($cents / 100 | floor).\($cents % 100 | pad(2))" end;
def count($one; $many): "\(.) \(if . == 1 then $one else $many end)";
def issue: "[#\(.issue)](\($site)/issues/\(.issue))";
def pull: if .pull_request then "[#\(.pull_request)](\($site)/pull/\(.pull_request))" else "–" end;
def said: .state // (if $command == "ready" then "ready" else "not begun, or finished" end);
def pulls: map(.pull_request | select(. != null));
def blocked: map(select(.state == "blocked"));

def outcome:
  if .pull_request then "has the pull request #\(.pull_request)" elif .state == "blocked" then "is blocked" else "has no pull request" end;

def heading:
  .rows as $rows
  | if $command == "ready" and .error == null then
      if ($rows | length) == 0 then "No issue is ready"
      else
        ($rows | length | count("issue is"; "issues are")) + " ready" + (if .more > 0 then ", and \(.more) more wait for the next run" else "" end)
      end
    elif .error and .exit != 0 then "Hob failed"
    elif $command == "work" then $rows | map("#\(.issue) \(outcome)") | join(", ")
    else
      "\($rows | pulls | length) of \($rows | length | count("issue has"; "issues have")) a pull request"
      + ($rows | blocked | length | if . > 0 then ", " + count("is"; "are") + " blocked" else "" end)
      + ($rows | map(select(.pull_request == null and .state != "blocked")) | length | if . > 0 then ", \(.) not done yet" else "" end)
    end;

def table:
  if (.rows | length) == 0 then empty
  elif $command == "ready" then "| issue | title |", "|---|---|", (.rows[] | "| \(issue) | \(.title // "" | markdown) |")
  else
    "| issue | title | state | pull request | US dollars | note |", "|---|---|---|---|---|---|",
    (.rows[]
      | "| \(issue) | \(.title // "" | markdown) | \(said | markdown) | \(pull) | \(.usd // 0 | dollars) | \(.why // "" | markdown) |"),
    (if $command == "status" then "", "In all **\(.usd | dollars)** US dollars, earlier attempts at these issues included." else empty end)
  end;

if $part == "outputs" then
  "issues=\(.rows | map(.issue) | numbers)",
  "pull-requests=\(.rows | pulls | numbers)",
  "blocked=\(.rows | blocked | map(.issue) | numbers)",
  "spend-usd=\(.usd)",
  # Ten minutes for what is around the attempt.
  "timeout-minutes=\(if .minutes then .minutes + 10 else "" end)"
elif $part == "exit" then .exit
elif $part == "log" then
  heading,
  (.rows[] | [("#\(.issue) \(said)", .title, .why) | select(. != null) | line] | join(": ")),
  (.error // empty | line)
elif $part == "summary" then
  "### \(heading)", "", table, (if .error and .exit != 0 then "", (.error | markdown) else empty end), ""
else
  (if .error and .exit != 0 then "::error title=Hob::\(.error | data)" else empty end),
  (if $command == "ready" and .schedule then "::warning title=Hob::\(.schedule | data)" else empty end),
  (if $command == "ready" and (.minutes // 0) > 360 then
    "::warning title=Hob::By the settings, an attempt may take \(.minutes) minutes, and a hosted runner ends a job after 360. "
    + "Fewer or faster checks, or another check_time or limits.attempt_time, change that."
  else empty end),
  # GitHub shows ten of a step.
  (if $command == "work" then
    [.rows[] | select(.pull_request == null and .state != "completed")][:10][]
    | "::warning title=\("Hob: #\(.issue) \(outcome)" | property)::\(.why // "" | data)"
  else empty end)
end
