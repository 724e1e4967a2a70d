//! Groups of requests: one per page that the browser went to.

use html::{Document, Selector};

use super::entries::{Archive, Entry};
use crate::{js, plan, url};

/// Bytes of a page that are searched for its title.
const TITLE_BYTES_MAX: usize = 64 << 10;

/// The group of each entry.
pub(super) fn groups(entries: &[Entry], archive: &Archive) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut page = None;
    let mut groups = Vec::with_capacity(entries.len());
    for entry in entries {
        let is_new_page = page != Some(entry.page.as_str());
        if entry.is_document || is_new_page {
            page = Some(entry.page.as_str());
            let wish = js::label(&name(entry, archive, entries));
            current = plan::unused(&wish, |name| names.iter().any(|taken| taken == name));
            if current != wish {
                let number = names.iter().filter(|name| name.starts_with(wish.as_str())).count() + 1;
                current = format!("{wish} ({number})");
            }
            names.push(current.clone());
        }
        groups.push(current.clone());
    }
    groups
}

/// The page's title, or the path of its address.
fn name(entry: &Entry, archive: &Archive, entries: &[Entry]) -> String {
    if let Some(title) = title(&entry.response.body).filter(|_| entry.response.content_type.contains("html"))
    {
        return title;
    }
    // A title of the recorder is that of one page if there is one document on it.
    let documents = entries.iter().filter(|other| other.is_document && other.page == entry.page).count();
    let of_page = archive.pages.iter().find(|(id, title)| *id == entry.page && !title.trim().is_empty());
    match of_page.filter(|(_, title)| documents <= 1 && !title.contains("://")) {
        Some((_, title)) => title.clone(),
        None => path(&entry.url),
    }
}

fn path(address: &str) -> String {
    let origin = url::origin(address).map_or(0, |origin| origin.len());
    let path = url::without_credentials(address)
        .get(origin..)
        .unwrap_or("/")
        .split(['?', '#'])
        .next()
        .unwrap_or("/")
        .to_owned();
    if path.is_empty() { "/".to_owned() } else { path }
}

fn title(body: &str) -> Option<String> {
    let head = &body[..body.floor_char_boundary(TITLE_BYTES_MAX.min(body.len()))];
    if !head.to_ascii_lowercase().contains("<title") {
        return None;
    }
    let document = Document::parse(head);
    let selector = Selector::parse("title").ok()?;
    let title = document.find(&[html::NodeId::ROOT], &selector).first().map(|id| document.text(*id))?;
    Some(title.trim().to_owned()).filter(|title| !title.is_empty())
}
