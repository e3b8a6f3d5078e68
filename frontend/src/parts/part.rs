//! A part of the dashboard whose code is a file of its own, fetched when it is shown first. Everything that only such a
//! part reaches leaves the first module when the dashboard is built; see "A light page" in `ARCHITECTURE.md`.

use crate::api::ApiError;
use crate::components::dynamic::dynamic;
use crate::components::handler::handler;
use crate::components::icon::Icon;
use crate::components::states::SkeletonRows;
use crate::state::load::Load;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::SplitLoaderError;
use std::pin::Pin;

/// Makes the view of a part from what it is shown for.
pub(crate) type View<P> = fn(P) -> AnyView;
/// Fetches the code of a part, unless it is there. A failure is not kept: the next call tries anew.
pub(crate) type Fetch<P> = fn() -> Pin<Box<dyn Future<Output = Result<View<P>, SplitLoaderError>>>>;

/// `part!(name, Props, |props| view)`: a module `name` with `show(props)`, the view, and `fetch()`, which only fetches
/// its code. The name is that of the file; one that begins with the name of another part and `_` is shown inside of it.
/// Rows stand in its place while it is fetched, or what a fourth argument gives.
macro_rules! part {
    ($name:ident, $props:ty, $view:expr) => {
        $crate::parts::part::part!($name, $props, $view, $crate::parts::part::rows);
    };
    ($name:ident, $props:ty, $view:expr, $meanwhile:expr) => {
        pub(crate) mod $name {
            use super::*;

            #[leptos::wasm_split::wasm_split($name, wasm_split_path = leptos::wasm_split, fallible)]
            fn $name()
            -> Result<$crate::parts::part::View<$props>, leptos::wasm_split::SplitLoaderError> {
                Ok($view)
            }

            const FETCH: $crate::parts::part::Fetch<$props> = || Box::pin($name());

            pub(crate) fn show(props: $props) -> leptos::prelude::AnyView {
                $crate::parts::part::show(FETCH, $meanwhile, props)
            }

            #[allow(dead_code, reason = "what is shown by a click alone is fetched by it")]
            pub(crate) fn fetch() {
                $crate::parts::part::fetch(FETCH);
            }
        }
    };
}
pub(crate) use part;

/// The part, once its code is there.
pub(crate) fn show<P: Copy + Send + 'static>(
    fetch: Fetch<P>,
    meanwhile: fn() -> AnyView,
    props: P,
) -> AnyView {
    let code = Load::new(move || async move { fetch().await.map_err(|_| ApiError::no_part()) });
    dynamic(move || match code.get() {
        None => meanwhile(),
        Some(Ok(view)) => untrack(|| view(props)),
        Some(Err(_)) => {
            let retry = Callback::new(move |()| code.again());
            view! { <NotFetched retry/> }.into_any()
        }
    })
}

pub(crate) fn rows() -> AnyView {
    view! { <SkeletonRows/> }.into_any()
}

/// Fetches the code ahead. A failure shows when the part is wanted.
pub(crate) fn fetch<P: 'static>(fetch: Fetch<P>) {
    spawn_local(async move {
        let _ = fetch().await;
    });
}

#[component]
fn NotFetched(retry: Callback<()>) -> impl IntoView {
    view! {
        <div class="callout" data-status="error" role="alert">
            <Icon name="error"/>
            <div>
                <span class="callout__title">"This part of the dashboard could not be fetched."</span>
                " "
                <span class="callout__text">
                    "Is skillopt still running? If it was updated since this page was opened, reload the page."
                </span>
            </div>
            <div class="row">
                <button class="button" data-size="sm" type="button" on:click=handler(move |_| retry.run(()))>
                    <Icon name="refresh"/>
                    "Retry"
                </button>
                <button class="button" data-size="sm" type="button" on:click=handler(|_| reload())>
                    "Reload the page"
                </button>
            </div>
        </div>
    }
}

fn reload() {
    // Refused only to a page that is on its way out.
    let _ = location().reload();
}
