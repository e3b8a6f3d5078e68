//! A host name with its port, as it stands in `Host`, `:authority` and `Origin`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A checked `host[:port]`. The host is lower case; IPv6 is without brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads `host[:port]`; `None` for anything else, such as user names, paths or bad ports.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']')?;
                host.parse::<Ipv6Addr>().ok()?;
                match port.strip_prefix(':') {
                    Some(port) => (host, Some(port)),
                    None if port.is_empty() => (host, None),
                    None => return None,
                }
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if host.is_empty() || !host.chars().all(is_name) {
            return None;
        }
        let port = match port {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            Some(_) => return None,
            None => None,
        };
        Some(Self { host: host.to_ascii_lowercase(), port })
    }

    /// Reads `http://host[:port]` or `https://…`. `null` and everything else is `None`.
    pub(crate) fn of_origin(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let default_port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let mut authority = Self::parse(rest)?;
        authority.port.get_or_insert(default_port);
        Some(authority)
    }

    /// A name that only this machine can mean.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
            || self.host.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
    }

    /// `self` is an origin, `host` what the same request calls us. A `Host` without a port is at the default
    /// port of the scheme.
    pub(crate) fn is_same_place(&self, host: &Self) -> bool {
        let same_port = match host.port {
            Some(port) => self.port == Some(port),
            None => matches!(self.port, Some(80 | 443)),
        };
        self.host == host.host && same_port
    }

    /// `self` is a configured name; one without a port stands for every port.
    pub(crate) fn covers(&self, asked: &Self) -> bool {
        self.host == asked.host && (self.port.is_none() || self.port == asked.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("127.0.0.1:7860", true)]
    #[case("127.0.0.1", true)]
    #[case("127.8.8.8:1", true)]
    #[case("[::1]:7860", true)]
    #[case("[::1]", true)]
    #[case("LOCALHOST:7860", true)]
    #[case("localhost", true)]
    #[case("", false)]
    #[case("evil.example", false)]
    #[case("127.0.0.1.evil.example", false)]
    #[case("localhost.evil.example:7860", false)]
    #[case("evil.example#localhost", false)]
    #[case("localhost@evil.example", false)]
    #[case("user@localhost", false)]
    #[case("localhost:7860/x", false)]
    #[case("localhost:99999", false)]
    #[case("localhost:+80", false)]
    #[case("localhost:", false)]
    #[case("[::1", false)]
    #[case("[::1]x", false)]
    #[case("[::2]:80", false)]
    #[case("::1", false)]
    #[case("0.0.0.0:7860", false)]
    #[case("2130706433", false)]
    #[case("localhost localhost", false)]
    fn c69_only_loopback_names_mean_this_machine(#[case] text: &str, #[case] is_ours: bool) {
        assert_eq!(
            Authority::parse(text).is_some_and(|host| host.is_loopback()),
            is_ours,
            "{text}"
        );
    }

    #[rstest]
    #[case("http://127.0.0.1:7860", "127.0.0.1:7860", true)]
    #[case("https://lab.example", "lab.example", true)]
    #[case("http://127.0.0.1:3000", "127.0.0.1:7860", false)]
    #[case("http://localhost:7860", "127.0.0.1:7860", false)]
    #[case("null", "127.0.0.1:7860", false)]
    #[case("file://127.0.0.1:7860", "127.0.0.1:7860", false)]
    #[case("http://127.0.0.1:7860.evil.example", "127.0.0.1:7860", false)]
    fn c70_an_origin_is_the_same_place_only_with_its_port(
        #[case] origin: &str,
        #[case] host: &str,
        #[case] is_same: bool,
    ) {
        let host = Authority::parse(host).unwrap();
        let same = Authority::of_origin(origin).is_some_and(|origin| origin.is_same_place(&host));
        assert_eq!(same, is_same);
    }
}
