//! `report.md`: a night for people. What a report holds stands in `skillopt_domain::night::report`.

mod markdown;

pub use markdown::{ReportHeading, report_md};
pub(crate) use markdown::{dollars, escaped};
