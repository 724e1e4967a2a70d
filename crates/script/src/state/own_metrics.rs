//! Metrics of modules of ours. They are declared by the import, so that scripts without it may use the names.

use model::{MetricId, MetricKind, MetricRegistry, ValueKind};

/// Makes the struct of a module's metrics and how it declares them.
macro_rules! own_metrics {
    ($(#[$about:meta])* $struct:ident of $module:literal {
        $($(#[$doc:meta])* $field:ident = $name:literal, $kind:ident, $contains:ident;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $struct {
            $($(#[$doc])* pub(crate) $field: model::MetricId,)*
        }

        impl $struct {
            /// Declares all of them.
            ///
            /// # Errors
            /// A text for the user: a name is taken by a metric of another type.
            pub(crate) fn declare(registry: &model::MetricRegistry) -> Result<$struct, String> {
                use model::{MetricKind, ValueKind};
                let declare = |name, kind, contains| {
                    crate::state::own_metrics::declare(registry, $module, name, kind, contains)
                };
                Ok($struct { $($field: declare($name, MetricKind::$kind, ValueKind::$contains)?,)* })
            }
        }
    };
}
pub(crate) use own_metrics;

/// Declares one metric of a module.
///
/// # Errors
/// A text for the user: the script has a metric of this name and of another type.
pub(crate) fn declare(
    registry: &MetricRegistry,
    module: &str,
    name: &str,
    kind: MetricKind,
    contains: ValueKind,
) -> Result<MetricId, String> {
    registry.register(name, kind, contains).map_err(|conflict| {
        format!(
            "{module} has a metric '{name}', and the script one of type {} ({}): give the script's another name",
            conflict.is.0.as_str(),
            conflict.is.1.as_str()
        )
    })
}
