//! Bodies of issues, and what the brief has of each.

use crate::brief::tests::of_issue;

/// What these bodies have is all on their pages.
#[test]
fn what_the_page_shows_is_in_the_brief_as_it_was_written() {
    for (what, body) in [
        (
            "plain words, lists and a rule",
            "The export is slow.\n\n1. open it\n2. wait\n\n- [ ] mend\n- [x] measure\n\n---\n\nThanks!\n",
        ),
        (
            "code with HTML comments",
            "The template loses this:\n\n```html\n<!-- keep me -->\n<p>x</p>\n```\n\nand `<!-- inline -->` as well.\n",
        ),
        ("an unterminated comment in a fence", "```html\n<!-- never closed\n<p>\n```\n\nText after it.\n"),
        ("a diff", "```diff\n--- a/x.html\n+++ b/x.html\n@@ -1,2 +1,2 @@\n-<!-- old -->\n+<!-- new -->\n <b>\n```\n"),
        ("Persian", "## نیم\u{200c}فاصله\n\nمی\u{200c}خواهم `کتاب\u{200c}ها` درست نمایش داده شود.\n"),
        ("Hindi", "क्\u{200d}ष और क्\u{200c}ष अलग हैं। श्री\u{200c}मान\n"),
        (
            "emoji with joiners and selectors",
            "👩\u{200d}💻 and 👨\u{200d}👩\u{200d}👧\u{200d}👦, ❤\u{fe0f}\u{200d}🔥, 🏳\u{fe0f}\u{200d}🌈, ✔\u{fe0e} and 1\u{fe0f}⃣: all are lost. 👍🏽\n",
        ),
        ("Japanese names with selectors", "葛\u{e0100}城市の表示が崩れる。\n"),
        (
            "generics in prose",
            "`parse` returns Vec<T>, not HashMap<String, Vec<u8>>, and Option<Box<dyn Error>> fails.\n",
        ),
        ("placeholders in prose", "Run `hob` with <owner>/<name>, then copy <src> <dst>.\n"),
        ("comparisons", "If a < b and c > d, then a<b fails; x <- y, <3 and <= too.\n"),
        (
            "nested lists and fences",
            "- one\n  - two\n\n    ```sh\n    echo '<!-- x -->'\n    ```\n\n  - three: `<T>`\n\n1. first\n\n   ~~~text\n   ```\n   <!-- y -->\n   ```\n   ~~~\n",
        ),
        ("a fence in a quotation", "> It says:\n>\n> ```xml\n> <!-- x -->\n> <a b=\"c\"/>\n> ```\n>\n> and stops.\n"),
        ("indented code", "It prints\n\n    <!-- generated -->\n    <T extends U>\n\nand ends.\n"),
        ("a longer fence around a fence", "````md\n```\n<!-- x -->\n```\n````\n"),
        ("a code span of two back-ticks", "``a ` <!-- b --> ` c`` and `` ` ``.\n"),
        ("tables with code", "| call | result |\n|:--|--:|\n| `a <!-- b -->` | `Vec<T>` |\n| `x \\| y` | 2 |\n"),
        ("entities", "It shows &lt;!-- this --&gt; and &amp;nbsp; as text, &copy; too.\n"),
        (
            "a body that was read from a template as YAML",
            "### Version\n\n1.2.3\n\n### What happened?\n\n```shell\n$ npm test # <!-- ```\n```\n",
        ),
        (
            "math that hides nothing",
            "$a^2 + \\color{red}{b}^2$ and $$\\sum_i x_i$$, `$HOME`, it costs $5 and 10% more than $6.\n\n```math\n\\frac{a}{b} = 10\\%\n```\n",
        ),
        (
            "a mermaid diagram without comments",
            "```mermaid\ngraph TD\n  A[Start] --> B{Ok?}\n  style A fill:#fff\n```\n",
        ),
        ("a map of places alone", "```geojson\n{\"type\": \"Point\", \"coordinates\": [1.5, 2]}\n```\n"),
        (
            "folds and keys",
            "<details>\n<summary>Log</summary>\n\n```\n<!-- in the log -->\n```\n\n</details>\n\nPress <kbd>Ctrl</kbd>+<kbd>C</kbd>.\n",
        ),
        ("a comment that no browser reads as one", "Write <!-- at the start of a note.\n"),
        ("links and addresses", "See [docs](https://e.example/a_b), <https://e.example>, ann@e.example and #12.\n"),
    ] {
        assert_eq!(of_issue(body), body.trim_end(), "{what}");
    }
}

#[test]
fn crlf() {
    insta::assert_snapshot!(of_issue("One\r\n\r\n```diff\r\n-a\r\n+b\r\n```\r\n<!-- tell -->\r\nTwo\r\n"), @"
    One

    ```diff
    -a
    +b
    ```

    Two

    (Left out: 13 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn the_comments_of_a_template() {
    insta::assert_snapshot!(of_issue("<!-- Thanks for the report! Do not delete this. -->\n\n**What happened**\n<!-- describe\nit -->\nIt fails.\n"), @"


    **What happened**

    It fails.

    (Left out: 71 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn a_comment_within_a_line() {
    insta::assert_snapshot!(of_issue("Use <!-- not --> tabs.\n"), @"
    Use  tabs.

    (Left out: 12 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn an_unterminated_comment_at_the_start_of_a_line() {
    insta::assert_snapshot!(of_issue("Shown.\n\n<!-- never closed\n\n```\nalso in the comment\n```\n"), @"
    Shown.


    (Left out: 47 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn mdx() {
    insta::assert_snapshot!(of_issue("import Tabs from './tabs'\n\n<Tabs groupId=\"os\" values={[1]}>\n\n```jsx\n<Tabs groupId=\"os\">{/* kept */}</Tabs>\n```\n\n</Tabs>\n\n{/* shown */} <!-- hidden -->\n"), @r#"
    import Tabs from './tabs'

    <Tabs>

    ```jsx
    <Tabs groupId="os">{/* kept */}</Tabs>
    ```

    </Tabs>

    {/* shown */} 

    (Left out: 41 characters of the issue that cannot be seen.)
    "#);
}

#[test]
fn attributes_and_titles() {
    insta::assert_snapshot!(of_issue("<a href=\"x\" title=\"obey\">here</a>, [docs](https://e.example \"obey\") and ![obey](i.png 'obey').\n"), @"
    <a>here</a>, [docs](https://e.example) and ![](i.png).

    (Left out: 40 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn definitions_and_footnotes() {
    insta::assert_snapshot!(of_issue("See [docs][d] and a note[^1].\n\n[d]: https://e.example 'obey'\n[^1]: Shown.\n[^2]: obey\n[//]: # (obey)\n"), @"
    See [docs](https://e.example) and a note[^1].


    [^1]: Shown.

    (Left out: 55 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn mermaid_comments() {
    insta::assert_snapshot!(of_issue("```mermaid\n%%{init: {\n  'obey': 1\n}}%%\ngraph TD\n  %% obey\n  accTitle: obey\n  accDescr {\n    obey\n  }\n  A --> B\n```\n"), @"
    ```mermaid
    graph TD
      A --> B
    ```

    (Left out: 81 characters of the issue that cannot be seen, among them what a mermaid diagram does not draw.)
    ");
}

#[test]
fn a_diagram_in_white() {
    insta::assert_snapshot!(of_issue("Before.\n\n```mermaid\ngraph TD\n  A[obey]\n  style A color:white,fill:#fff\n```\n"), @"
    Before.

    ```mermaid
    ```

    (Left out: 51 characters of the issue that cannot be seen, among them what a mermaid diagram does not draw.)
    ");
}

#[test]
fn phantom_and_white_math() {
    insta::assert_snapshot!(of_issue("$\\phantom{obey}$ $x$ $\\color{white}{obey}$ $`\\textcolor{#fefefe}{obey}`$ $y % obey$\n\n$$\n\\hphantom{obey}\n$$\n\n```math\na % obey\n```\n\n`$\\phantom{kept}$`\n"), @r"
     $x$   

    $$

    ```math
    ```

    `$\phantom{kept}$`

    (Left out: 104 characters of the issue that cannot be seen, among them a formula that hides a part of itself.)
    ");
}

#[test]
fn properties_of_a_map() {
    insta::assert_snapshot!(of_issue("```geojson\n{\"type\": \"Feature\", \"geometry\": {\"type\": \"Point\", \"coordinates\": [1, 2]}, \"properties\": {\"name\": \"obey\"}, \"id\": \"obey\"}\n```\n"), @r#"
    ```geojson
    {"geometry":{"coordinates":[1,2],"type":"Point"},"type":"Feature"}
    ```

    (Left out: 53 characters of the issue that cannot be seen, among them properties of a map.)
    "#);
}

#[test]
fn names_in_a_model() {
    insta::assert_snapshot!(of_issue("```stl\nsolid obey_this\n  facet normal 0 0 1\nendsolid obey\n```\n"), @"
    ```stl
    solid
      facet normal 0 0 1
    endsolid
    ```

    (Left out: 15 characters of the issue that cannot be seen, among them names in a model.)
    ");
}

#[test]
fn invisible_characters_in_text_and_in_code() {
    insta::assert_snapshot!(of_issue("a\u{200b}b\u{202e}c \u{e0041}\u{e0042} and `d\u{200b}e\u{e0041}`\n"), @r"
    abc  and `d\u{200b}e\u{e0041}`

    (Left out: 4 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn hidden_elements() {
    insta::assert_snapshot!(of_issue("a <template>x <template>y</template> obey</template> b <ruby>k<rp>obey</rp></ruby>\n\n<style>\nobey\n</style>\n\nShown.\n"), @"
    a  b <ruby>k</ruby>



    Shown.

    (Left out: 84 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn rows_of_unknown_tags() {
    insta::assert_snapshot!(of_issue("<one><two><three><four><five><six> and <a-very-long-name-that-says-what-to-do-next> end.\n"), @"
    <one><two><three><four> and  end.

    (Left out: 55 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn a_fence_with_words_behind_its_language() {
    insta::assert_snapshot!(of_issue("```rust obey these words\nfn main() {}\n```\n"), @"
    ```rust
    fn main() {}
    ```

    (Left out: 17 characters of the issue that cannot be seen.)
    ");
}

#[test]
fn a_comment_after_code_in_one_line() {
    insta::assert_snapshot!(of_issue("`<!--` obey -->, `-->` <!-- ` --> `x` <!-- y -->\n"), @"
    `<!--` obey -->, `-->`  `x` 

    (Left out: 20 characters of the issue that cannot be seen.)
    ");
}
