//! A run's seconds as tables for other programs: a row per series and second.
//!
//! [`rows`] makes rows of windows, and each format is a file that writes them as they come, so that a long run never has
//! to fit into memory. What the columns mean is documented at [`api::WindowRow`].

mod csv;
mod json;
mod parquet;
mod row;

pub use self::csv::write as write_csv;
pub use json::write as write_json;
pub use parquet::write as write_parquet;
pub use row::rows;

/// Why an export ended early. Continues "failed to".
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file or stream took no more.
    #[error("write the export: {0}")]
    Write(#[from] std::io::Error),
    /// The rows could not be had.
    #[error("{0}")]
    Read(Box<dyn std::error::Error + Send + Sync>),
}

impl From<serde_json::Error> for ExportError {
    fn from(error: serde_json::Error) -> Self {
        ExportError::Write(error.into())
    }
}

impl From<::parquet::errors::ParquetError> for ExportError {
    fn from(error: ::parquet::errors::ParquetError) -> Self {
        ExportError::Write(std::io::Error::other(error))
    }
}
