//! `report.md`: a night for people. What a report holds stands in `skillopt_domain::night::report`.

mod markdown;

pub(crate) use markdown::escaped;
pub use markdown::{ReportHeading, report_md};
