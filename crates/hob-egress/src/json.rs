//! JSON that borrows from its text: a request is read once, and its texts are not copied where they have no escapes.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

/// A value. An object with a name twice is an error: services differ in which one counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Flag(bool),
    /// A number, if it is a whole one from 0 up.
    Number(Option<u64>),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Object(Vec<(Cow<'a, str>, Self)>),
}

impl<'a> Json<'a> {
    /// A member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The members of an object; of other values, none.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Self::Object(members) => members,
            Self::Null | Self::Flag(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => &[],
        }
    }

    /// The elements of a list; of other values, none.
    pub(crate) fn elements(&self) -> &[Self] {
        match self {
            Self::List(elements) => elements,
            Self::Null | Self::Flag(_) | Self::Number(_) | Self::Text(_) | Self::Object(_) => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Flag(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => *number,
            Self::Null | Self::Flag(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reads)
    }
}

struct Reads;

impl<'de> Visitor<'de> for Reads {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json<'de>, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(Some(number)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(None))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        // Clients without whole numbers write `4096.0`.
        let whole = number >= 0.0 && number.fract() == 0.0 && number < 1e15;
        Ok(Json::Number(whole.then_some(number as u64)))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json<'de>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Json::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'de>, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Json<'de>)> = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            if members.iter().any(|(known, _)| *known == name) {
                return Err(Error::custom(format_args!("`{name}` appears twice")));
            }
            members.push((name, map.next_value()?));
        }
        Ok(Json::Object(members))
    }
}

/// A member's name, borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_borrowed_where_it_can_be_and_a_name_appears_once() {
        let json: Json<'_> = serde_json::from_str(r#"{"a":["x","y\n",4,4.0,-1,null,true]}"#).unwrap();
        let elements = json.get("a").unwrap().elements();
        assert!(matches!(elements[0], Json::Text(Cow::Borrowed("x"))) && elements[1].text() == Some("y\n"));
        let numbers: Vec<_> = elements.iter().map(Json::number).collect();
        assert_eq!(numbers, [None, None, Some(4), Some(4), None, None, None]);
        assert!(serde_json::from_str::<Json<'_>>(r#"{"a":1,"\u0061":2}"#).is_err());
    }
}
