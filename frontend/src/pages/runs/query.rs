//! What the list shows, as it stands in the URL. Pure.

use crate::api::encode;
use skillopt_domain::api::RunQuery;
use skillopt_domain::run::RunStatus;

/// Rows of one request.
const PAGE: u32 = 200;

/// By what the list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SortKey {
    #[default]
    Created,
    Name,
    Status,
    Best,
    Steps,
    Cost,
}

impl SortKey {
    const ALL: [Self; 6] =
        [Self::Created, Self::Name, Self::Status, Self::Best, Self::Steps, Self::Cost];

    fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Name => "name",
            Self::Status => "status",
            Self::Best => "best",
            Self::Steps => "steps",
            Self::Cost => "cost",
        }
    }

    /// What one wants to see first: large numbers and new runs, but words from A.
    fn first_order(self) -> Order {
        match self {
            Self::Name | Self::Status => Order::Rising,
            Self::Created | Self::Best | Self::Steps | Self::Cost => Order::Falling,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    Rising,
    #[default]
    Falling,
}

impl Order {
    fn turned(self) -> Self {
        match self {
            Self::Rising => Self::Falling,
            Self::Falling => Self::Rising,
        }
    }

    /// For `aria-sort`.
    pub(super) fn as_aria(self) -> &'static str {
        match self {
            Self::Rising => "ascending",
            Self::Falling => "descending",
        }
    }
}

/// Filter, text and sort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListQuery {
    pub(super) status: Option<RunStatus>,
    pub(super) text: String,
    pub(super) sort: SortKey,
    pub(super) order: Order,
}

impl ListQuery {
    /// Reads the parameters of a URL; what it does not know counts as not set.
    pub(super) fn read(param: impl Fn(&str) -> Option<String>) -> Self {
        let sort = param("sort").unwrap_or_default();
        let (order, word) = match sort.strip_prefix('-') {
            Some(word) => (Order::Falling, word),
            None => (Order::Rising, sort.as_str()),
        };
        let known = SortKey::ALL.into_iter().find(|key| key.as_str() == word);
        Self {
            status: param("status").and_then(|word| RunStatus::parse(&word)),
            text: param("q").unwrap_or_default(),
            sort: known.unwrap_or_default(),
            order: if known.is_some() { order } else { Order::default() },
        }
    }

    /// The address of this list. Defaults are left out.
    pub(super) fn href(&self) -> String {
        let is_default_sort = (self.sort, self.order) == (SortKey::default(), Order::default());
        let params = [
            self.status.map(|status| format!("status={status}")),
            (!self.text.is_empty()).then(|| format!("q={}", encode(&self.text))),
            (!is_default_sort).then(|| format!("sort={}", self.sort_word())),
        ];
        let params: Vec<String> = params.into_iter().flatten().collect();
        if params.is_empty() { "/runs".to_owned() } else { format!("/runs?{}", params.join("&")) }
    }

    fn sort_word(&self) -> String {
        let mark = if self.order == Order::Falling { "-" } else { "" };
        format!("{mark}{}", self.sort.as_str())
    }

    pub(super) fn with_status(&self, status: Option<RunStatus>) -> Self {
        Self { status, ..self.clone() }
    }

    pub(super) fn with_text(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    /// Sorted by this key, or the other way round when it is already.
    pub(super) fn sorted_by(&self, key: SortKey) -> Self {
        let order = if self.sort == key { self.order.turned() } else { key.first_order() };
        Self { sort: key, order, ..self.clone() }
    }

    /// Something is filtered out.
    pub(super) fn is_filtered(&self) -> bool {
        self.status.is_some() || !self.text.is_empty()
    }

    /// New runs belong at the top.
    pub(super) fn shows_new_first(&self) -> bool {
        self.text.is_empty() && (self.sort, self.order) == (SortKey::Created, Order::Falling)
    }

    pub(super) fn first_page(&self) -> RunQuery {
        RunQuery {
            status: self.status,
            q: Some(self.text.clone()).filter(|text| !text.is_empty()),
            sort: Some(self.sort_word()),
            cursor: None,
            limit: Some(PAGE),
        }
    }

    pub(super) fn page_after(&self, cursor: String) -> RunQuery {
        RunQuery { cursor: Some(cursor), ..self.first_page() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(url: &str) -> ListQuery {
        let pairs: Vec<(&str, &str)> =
            url.split('&').filter_map(|pair| pair.split_once('=')).collect();
        ListQuery::read(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[rstest]
    #[case("", "/runs")]
    #[case("sort=-created", "/runs")]
    #[case("sort=created", "/runs?sort=created")]
    #[case("status=failed&q=ab&sort=-best", "/runs?status=failed&q=ab&sort=-best")]
    #[case("status=nonsense&sort=-nonsense", "/runs")]
    fn the_url_is_read_and_written_the_same(#[case] url: &str, #[case] href: &str) {
        assert_eq!(read(url).href(), href);
    }

    #[test]
    fn a_second_click_turns_the_order() {
        let once = ListQuery::default().sorted_by(SortKey::Best);
        assert_eq!(once.href(), "/runs?sort=-best");
        assert_eq!(once.sorted_by(SortKey::Best).href(), "/runs?sort=best");
        assert_eq!(once.sorted_by(SortKey::Name).href(), "/runs?sort=name");
    }
}
