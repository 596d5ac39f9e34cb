//! From a model's name to a client for it.

use std::{
    net::IpAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use hob_config::{
    Effort, KnownModel, ModelAccess, ModelName, ModelSettings, OpenAiInterface, PriceSettings, known_model,
};
use hob_egress::ServiceTier;
use hob_text::KnownSecrets;
use url::{Host, Url};

use crate::model::{
    Anthropic, Cassette, FallbackChain, ModelClient, ModelError, OpenAi, Responses,
    fallback_chain::Member,
    http::{Http, Reach},
    recording::Records,
    reply_options::ReplyOptions,
};

/// The address of OpenAI's interface, with its version.
const OPENAI: &str = "https://api.openai.com/v1";
/// The address of Anthropic's interface, without its version.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Whether a model's tokens are billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Billing {
    /// A service that may charge money.
    Billed,
    /// A recording, or a server on this machine.
    Free,
}

/// Makes clients. All share one pool of connections, and one for servers on this machine.
#[derive(Debug)]
pub struct Models {
    settings: ModelSettings,
    access: ModelAccess,
    network: OnceLock<Http>,
    this_machine: OnceLock<Http>,
    records: Option<Records>,
}

impl Models {
    /// Takes the settings, and the keys and addresses from the environment.
    pub fn new(settings: ModelSettings, access: ModelAccess) -> Self {
        Self { settings, access, network: OnceLock::new(), this_machine: OnceLock::new(), records: None }
    }

    /// Records the replies of each conversation, without these secrets, in its own file in `folder`.
    #[must_use]
    pub fn recording(self, folder: Option<PathBuf>, secrets: KnownSecrets) -> Self {
        Self { records: folder.map(|folder| Records { folder, secrets }), ..self }
    }

    /// The models `first` and `others`, in the order in which they are asked, with the effort and the tier of an agent.
    ///
    /// # Errors
    /// [`ModelError::Setup`] when one is named twice or cannot be had, as [`Models::client`] says it.
    pub fn fallback_chain(
        &self,
        first: &ModelName,
        others: &[ModelName],
        effort: Option<Effort>,
        tier: ServiceTier,
    ) -> Result<FallbackChain, ModelError> {
        for (place, name) in others.iter().enumerate() {
            if name == first || others.iter().take(place).any(|earlier| earlier == name) {
                return Err(ModelError::Setup(format!("`{name}` appears twice in its list of models")));
            }
        }
        let has_tier = |name: &ModelName| known_model(&name.to_string()).is_some_and(KnownModel::has_flex);
        let lacks_tier = tier == ServiceTier::Flex && !std::iter::once(first).chain(others).any(has_tier);
        let others = others.iter().map(|name| self.member(name, effort, tier)).collect::<Result<_, _>>()?;
        Ok(FallbackChain::new(self.member(first, effort, tier)?, others, self.records.clone()).lacking_tier(lacks_tier))
    }

    fn member(&self, name: &ModelName, effort: Option<Effort>, tier: ServiceTier) -> Result<Member, ModelError> {
        let price = self.settings.price(name).or_else(|| match self.billing(name) {
            Billing::Free => Some(PriceSettings::default()),
            Billing::Billed => None,
        });
        Ok(Member { name: name.to_string(), client: self.client_with(name, effort, tier)?, price })
    }

    /// A client for `name`.
    ///
    /// # Errors
    /// [`ModelError::Setup`] if its key is missing, its address is invalid or its cassette cannot be read;
    /// [`ModelError::Cassette`] if the cassette is not valid.
    pub fn client(&self, name: &ModelName) -> Result<Arc<dyn ModelClient>, ModelError> {
        self.client_with(name, None, ServiceTier::Standard)
    }

    /// Like [`client`](Self::client), with an effort instead of the settings', and a tier.
    fn client_with(
        &self,
        name: &ModelName,
        effort: Option<Effort>,
        tier: ServiceTier,
    ) -> Result<Arc<dyn ModelClient>, ModelError> {
        let sees = self.settings.images.sees(&name.to_string());
        let effort = effort.or(self.settings.effort);
        let known = known_model(&name.to_string());
        let options = ReplyOptions { max_tokens: self.settings.max_output_tokens, effort, known, sees, tier };
        match name {
            ModelName::Cassette(path) => Ok(Arc::new(Cassette::load(path)?)),
            ModelName::OpenAi(model) => {
                let base = self.openai()?;
                if self.access.openai_key.is_none() && is_host(&base, OPENAI) {
                    return Err(ModelError::Setup("set OPENAI_API_KEY, or OPENAI_BASE_URL for another server".into()));
                }
                let key = self.access.openai_key.clone();
                let http = self.http(&base)?;
                // Other servers speak chat completions; OpenAI's own models reason best over responses.
                let default = if is_host(&base, OPENAI) { OpenAiInterface::Responses } else { OpenAiInterface::Chat };
                Ok(match self.settings.openai_interface.unwrap_or(default) {
                    OpenAiInterface::Responses => Arc::new(Responses::new(http, &base, key, model, options)),
                    OpenAiInterface::Chat => Arc::new(OpenAi::new(http, &base, key, model, options)),
                })
            }
            ModelName::Anthropic(model) => {
                let base = self.anthropic()?;
                if self.access.anthropic_key.is_none() && !is_loopback(&base) {
                    return Err(ModelError::Setup("set ANTHROPIC_API_KEY".into()));
                }
                let key = self.access.anthropic_key.clone();
                Ok(Arc::new(Anthropic::new(self.http(&base)?, &base, key, model, options)))
            }
        }
    }

    /// Whether the tokens of `name` may be billed.
    fn billing(&self, name: &ModelName) -> Billing {
        let base = match name {
            ModelName::Cassette(_) => return Billing::Free,
            ModelName::OpenAi(_) => self.openai(),
            ModelName::Anthropic(_) => self.anthropic(),
        };
        if base.is_ok_and(|base| is_loopback(&base)) { Billing::Free } else { Billing::Billed }
    }

    fn openai(&self) -> Result<Url, ModelError> {
        address([&self.access.openai_base_url, &self.settings.openai_base_url], OPENAI)
    }

    fn anthropic(&self) -> Result<Url, ModelError> {
        address([&self.access.anthropic_base_url, &self.settings.anthropic_base_url], ANTHROPIC)
    }

    fn http(&self, base: &Url) -> Result<Http, ModelError> {
        let (cell, reach) = match (base.scheme(), is_loopback(base)) {
            ("http", true) => (&self.this_machine, Reach::ThisMachine),
            (_, true | false) => (&self.network, Reach::Network),
        };
        if let Some(http) = cell.get() {
            return Ok(http.clone());
        }
        let http = Http::new(&self.settings, reach)?;
        Ok(cell.get_or_init(|| http).clone())
    }
}

fn address(overrides: [&Option<String>; 2], default: &str) -> Result<Url, ModelError> {
    let text = overrides.into_iter().flatten().next().map_or(default, String::as_str);
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.filter(|url| url.username().is_empty() && url.password().is_none());
    // The text is not repeated: a wrong address may contain a key.
    url.ok_or_else(|| {
        ModelError::Setup("a model's base URL must be `http://` or `https://`, a host, and no user or password".into())
    })
}

fn is_host(url: &Url, other: &str) -> bool {
    Url::parse(other).is_ok_and(|other| other.host() == url.host())
}

/// Whether it leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(openai_base_url: Option<&str>) -> Models {
        let access = ModelAccess { openai_base_url: openai_base_url.map(str::to_owned), ..ModelAccess::default() };
        Models::new(ModelSettings::default(), access)
    }

    #[test]
    fn a_missing_key_says_which_one() {
        for (name, said) in [("openai/x", "OPENAI_API_KEY"), ("anthropic/x", "ANTHROPIC_API_KEY")] {
            let error = models(None).client(&name.parse().unwrap()).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_server_on_this_machine_needs_no_key_and_costs_nothing() {
        let name = "openai/x".parse().unwrap();
        for (base, billing) in [
            ("http://127.0.0.1:11434/v1", Billing::Free),
            ("http://localhost:8080/v1", Billing::Free),
            ("http://[::1]:8080/v1", Billing::Free),
            ("http://model.example/v1", Billing::Billed),
        ] {
            assert!(models(Some(base)).client(&name).is_ok(), "{base}");
            assert_eq!(models(Some(base)).billing(&name), billing, "{base}");
        }
        for bad in ["model.example", "ftp://x/v1", "http://user:secret@x/v1"] {
            let error = models(Some(bad)).client(&name).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
