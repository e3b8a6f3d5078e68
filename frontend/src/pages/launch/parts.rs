//! Parts of the launch page with code of their own.

use super::forecast::body;
use crate::parts::part::part;
use leptos::prelude::*;
use skillopt_domain::api::Forecast;

part!(launch_forecast, StoredValue<Forecast>, |forecast| forecast.with_value(body));
