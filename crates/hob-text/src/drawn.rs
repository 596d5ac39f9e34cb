//! Blocks and formulas that the forge draws: what their source has and the drawing does not show.

use std::{collections::BTreeMap, ops::Range};

use serde_json::Value;

/// What the forge draws from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drawing {
    /// A diagram of mermaid.
    Diagram,
    /// A formula, in a block or within a line.
    Formula,
    /// A map, from GeoJSON or TopoJSON.
    Map,
    /// A body, from STL.
    Model,
}

/// Members of GeoJSON and TopoJSON that make the picture, and the values of `type`.
const OF_MAPS: [&str; 12] = [
    "type",
    "features",
    "geometry",
    "geometries",
    "coordinates",
    "bbox",
    "objects",
    "arcs",
    "transform",
    "scale",
    "translate",
    "crs",
];
const MAP_TYPES: [&str; 10] = [
    "FeatureCollection",
    "Feature",
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
    "GeometryCollection",
    "Topology",
];
const OF_MODELS: [&str; 9] = ["solid", "facet", "normal", "outer", "loop", "vertex", "endloop", "endfacet", "endsolid"];
/// Styles with which a diagram may show nothing.
const UNSEEN_STYLES: [&str; 6] = ["opacity", "visibility", "display:none", "font-size:0", "color:#fff", "transparent"];
/// Commands of a formula that hide a part of it, or that may be defined to.
const HIDING: [&str; 20] = [
    "phantom",
    "hphantom",
    "vphantom",
    "colorbox",
    "fcolorbox",
    "definecolor",
    "style",
    "class",
    "cssId",
    "def",
    "gdef",
    "edef",
    "let",
    "newcommand",
    "renewcommand",
    "newenvironment",
    "require",
    "label",
    "rlap",
    "llap",
];
/// Colours that are seen on a white and on a dark page.
const SEEN_COLOURS: [&str; 12] =
    ["red", "blue", "green", "orange", "purple", "magenta", "cyan", "teal", "brown", "violet", "olive", "gray"];

impl Drawing {
    /// What is drawn from a block with this text behind its fence.
    pub(crate) fn of(info: &str) -> Option<Self> {
        match info.split_whitespace().next()?.to_ascii_lowercase().as_str() {
            "mermaid" => Some(Self::Diagram),
            "math" => Some(Self::Formula),
            "geojson" | "topojson" => Some(Self::Map),
            "stl" => Some(Self::Model),
            _text => None,
        }
    }

    /// The part of it that is left out, in words.
    pub(crate) fn part(self) -> &'static str {
        match self {
            Self::Diagram => "what a mermaid diagram does not draw",
            Self::Formula => "a formula that hides a part of itself",
            Self::Map => "properties of a map",
            Self::Model => "names in a model",
        }
    }

    /// The source without what the drawing does not show; `None` if it shows all.
    pub(crate) fn shown(self, source: &str) -> Option<String> {
        let shown = match self {
            Self::Diagram => diagram(source),
            Self::Formula => {
                if hides(source) || has_comment(source) {
                    String::new()
                } else {
                    source.to_owned()
                }
            }
            Self::Map => return map(source),
            Self::Model => source.split_inclusive('\n').map(of_model).collect(),
        };
        (shown != source).then_some(shown)
    }
}

fn diagram(source: &str) -> String {
    let blank_free: String = source.to_lowercase().split_whitespace().collect();
    let white = blank_free.replace("color:white", "color:#fff");
    if UNSEEN_STYLES.iter().any(|style| white.replace("fill:#fff", "").contains(style)) {
        return String::new();
    }
    let mut shown = String::new();
    // The end of the part that is being left out.
    let mut until: Option<&str> = None;
    for (number, line) in source.split_inclusive('\n').enumerate() {
        let words = line.trim();
        if let Some(end) = until {
            if words.ends_with(end) {
                until = None;
            }
            continue;
        }
        until = match words {
            "---" if number == 0 => Some("---"),
            words if words.starts_with("%%{") && !words.ends_with("}%%") => Some("}%%"),
            words if words.starts_with("accDescr") && words.contains('{') && !words.ends_with('}') => Some("}"),
            _whole => None,
        };
        let is_left_out = ["%%", "accTitle", "accDescr", "click "].iter().any(|mark| words.starts_with(mark));
        if until.is_none() && !is_left_out {
            shown.push_str(line);
        }
    }
    shown
}

/// A line of a model without its name.
fn of_model(line: &str) -> String {
    let is_drawn = |word: &str| OF_MODELS.contains(&word) || word.parse::<f64>().is_ok();
    if line.split_whitespace().all(is_drawn) {
        return line.to_owned();
    }
    let words: Vec<&str> = line.split_whitespace().filter(|word| is_drawn(word)).collect();
    format!("{}\n", words.join(" "))
}

fn map(source: &str) -> Option<String> {
    // What cannot be read is not drawn.
    let Ok(mut map) = serde_json::from_str::<Value>(source) else { return Some(String::new()) };
    only_drawn(&mut map, "").then(|| format!("{map}\n"))
}

/// Removes the members of a map that are not drawn; returns whether there were any.
fn only_drawn(value: &mut Value, name: &str) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => {
            let is_drawn = name == "type" && MAP_TYPES.contains(&text.as_str());
            if !is_drawn {
                text.clear();
            }
            !is_drawn
        }
        Value::Array(values) => values.iter_mut().filter_map(|value| only_drawn(value, name).then_some(())).count() > 0,
        Value::Object(members) => {
            let all = members.len();
            members.retain(|member, _| OF_MAPS.contains(&member.as_str()));
            let any = members.len() < all;
            let inside =
                members.iter_mut().filter_map(|(member, value)| only_drawn(value, member).then_some(())).count();
            any || inside > 0
        }
    }
}

/// Whether a formula has a command that hides a part of it.
fn hides(formula: &str) -> bool {
    formula.match_indices('\\').any(|(at, _)| is_hiding(&formula[at + 1..]))
}

/// Whether the command at the beginning hides something.
fn is_hiding(command: &str) -> bool {
    let end = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
    let (name, rest) = command.split_at(end);
    if !matches!(name, "color" | "textcolor") {
        return HIDING.contains(&name.trim_start_matches("math"));
    }
    let colour = rest.trim_start().strip_prefix('{').and_then(|rest| rest.split('}').next());
    !colour.is_some_and(|colour| SEEN_COLOURS.contains(&colour.trim()))
}

fn has_comment(formula: &str) -> bool {
    formula.match_indices('%').any(|(at, _)| !formula[..at].ends_with('\\'))
}

/// The formulas within the text of a source that hide a part of themselves. `code` has where each piece of code begins
/// and ends: between dollar signs, one within a line is a formula too.
pub(crate) fn formulas(source: &str, code: &BTreeMap<usize, usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for piece in between_blanks(source) {
        let dollars: Vec<usize> = source[piece.clone()]
            .match_indices('$')
            .map(|(at, _)| piece.start + at)
            .filter(|at| !is_in_code(code, *at) && !source[..*at].ends_with('\\'))
            .collect();
        for two in dollars.windows(2) {
            let (start, end) = (two[0], two[1] + 1);
            let inner = &source[start + 1..two[1]];
            let codes: Vec<_> = code.range(start..end).collect();
            let is_code = codes.first().is_some_and(|(from, to)| **from == start + 1 && **to == two[1]);
            let is_tight = !inner.starts_with(char::is_whitespace)
                && !inner.ends_with(char::is_whitespace)
                && !source[end..].starts_with(char::is_alphanumeric);
            let hides = hides(inner) || (is_tight && has_comment(inner));
            // Other code ends a formula.
            if hides && (codes.is_empty() || is_code) && found.last().is_none_or(|last| last.end <= start) {
                found.push(start..end);
            }
        }
    }
    found
}

fn is_in_code(code: &BTreeMap<usize, usize>, at: usize) -> bool {
    code.range(..=at).next_back().is_some_and(|(_, end)| *end > at)
}

/// The pieces of a source that a blank line separates: no formula goes over one.
fn between_blanks(source: &str) -> Vec<Range<usize>> {
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    for line in source.split_inclusive('\n') {
        at += line.len();
        if line.trim().is_empty() {
            pieces.push(start..at);
            start = at;
        }
    }
    pieces.push(start..source.len());
    pieces
}
