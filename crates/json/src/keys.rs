//! GJSON's modifier `@keys`, which the library lacks: the names of an object's members.

/// A path around its first `@keys`: what is before it and what is after it.
///
/// Paths that build objects or arrays or ask queries before it are left to the library.
pub(crate) fn split(path: &str) -> Option<(&str, &str)> {
    const MODIFIER: &str = "@keys";
    let (before, after) = path.split_once(MODIFIER)?;
    let before = if before.is_empty() { "@this" } else { before.strip_suffix(['.', '|'])? };
    if before.contains(['{', '[', '(', '"', '\\']) {
        return None;
    }
    // The modifier takes no notice of an argument.
    let end = if after.starts_with(':') { after.find(['.', '|']).unwrap_or(after.len()) } else { 0 };
    let rest = &after[end..];
    if rest.is_empty() {
        return Some((before, "@this"));
    }
    Some((before, rest.strip_prefix(['.', '|'])?))
}

/// The names of the members of what `path` finds, as JSON. As in GJSON (seen in k6), anything but an object has a
/// null for each of its values, and nothing has nothing.
pub(crate) fn member_names(text: &str, path: &str) -> String {
    let found = gjson::get(text, path);
    let mut names: Vec<String> = Vec::new();
    match found.kind() {
        gjson::Kind::Object => found.each(|name, _| {
            names.push(name.json().to_owned());
            true
        }),
        gjson::Kind::Array => names.resize(found.array().len(), "null".to_owned()),
        _ if found.exists() => names.push("null".to_owned()),
        _ => {}
    }
    format!("[{}]", names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_equal_k6() {
        let text =
            r#"{"obj":{"a":1,"b":{"c":2}},"list":[1,2],"s":"x","null":null,"no":{},"dup":{"x":1,"x":2}}"#;
        let check = |path: &str, expect: Option<&str>| {
            let got = split(path)
                .map(|(before, after)| gjson::get(&member_names(text, before), after).json().to_owned());
            assert_eq!(got.as_deref(), expect, "{path}");
        };
        check("@keys", Some(r#"["obj","list","s","null","no","dup"]"#));
        check("obj.@keys", Some(r#"["a","b"]"#));
        check("obj|@keys", Some(r#"["a","b"]"#));
        check("obj.@keys:x", Some(r#"["a","b"]"#));
        check("obj.@keys.0", Some(r#""a""#));
        check("obj.@keys.#", Some("2"));
        check("list.@keys", Some("[null,null]"));
        check("s.@keys", Some("[null]"));
        check("null.@keys", Some("[null]"));
        check("no.@keys", Some("[]"));
        check("none.@keys", Some("[]"));
        check("dup.@keys", Some(r#"["x","x"]"#));
        check("obj.a", None);
        check("obj@keys", None);
        check("obj.@keysx", None);
        check("{obj,list}.@keys", None);
    }
}
