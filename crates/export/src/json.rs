//! The report and all rows as one JSON document.

use std::io::Write;

use api::WindowRow;

use crate::ExportError;

/// Writes `{"report":…,"windows":[…]}`, the rows as they come. `report` is JSON already.
///
/// # Errors
/// A row cannot be had, or the stream takes no more.
pub fn write(
    report: &str,
    rows: impl Iterator<Item = Result<Vec<WindowRow>, ExportError>>,
    to: &mut dyn Write,
) -> Result<(), ExportError> {
    write!(to, "{{\"report\":{},\n\"windows\":[", report.trim())?;
    let mut separator = "\n";
    for batch in rows {
        for row in batch? {
            to.write_all(separator.as_bytes())?;
            serde_json::to_writer(&mut *to, &row)?;
            separator = ",\n";
        }
    }
    to.write_all(b"\n]}\n")?;
    Ok(to.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::sample;

    #[test]
    fn the_document_is_json() {
        let mut bytes = Vec::new();
        write("{\"a\":1}\n", [Ok(sample()), Ok(Vec::new()), Ok(sample())].into_iter(), &mut bytes)
            .expect("memory takes all");
        let document: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(document["report"]["a"], 1);
        assert_eq!(document["windows"].as_array().map(Vec::len), Some(8));
        let rows = document["windows"].as_array().into_iter().flatten();
        let requests: Vec<_> = rows.filter(|row| row["metric"] == "http_reqs").collect();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0]["type"], "counter");
        assert_eq!(requests[0]["tags"]["name"], sample()[0].tags["name"].as_str());
        assert!(!bytes.contains(&0x1b), "control characters are escaped");
    }

    #[test]
    fn a_run_without_windows_is_json_too() {
        let mut bytes = Vec::new();
        write("{}", std::iter::empty(), &mut bytes).expect("memory takes all");
        assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
    }
}
