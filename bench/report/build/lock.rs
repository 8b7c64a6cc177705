//! Reads the versions of some crates' dependencies from the text of a lock file. Used by the build; tested with the
//! library.

use std::collections::BTreeSet;

/// `name version` of every direct dependency of the packages `of`, except these packages, each once, sorted by name and
/// joined by commas. `None` if the text does not have all these packages.
pub(crate) fn versions(lock: &str, of: &[&str]) -> Option<String> {
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    let named = |name: &str, version: Option<&str>| {
        packages.iter().find(|package| {
            value(package, "name") == Some(name) && (version.is_none() || value(package, "version") == version)
        })
    };
    let mut found = BTreeSet::new();
    for package in of {
        let (_, list) = named(package, None)?.split_once("dependencies = [")?;
        let (list, _) = list.split_once(']')?;
        let items = list.split(',').map(|item| item.trim().trim_matches('"')).filter(|item| !item.is_empty());
        found.extend(items.filter_map(|item| {
            // If there are several versions of a crate, the list names the version.
            let mut parts = item.split(' ');
            let name = parts.next().filter(|name| !of.contains(name))?;
            let version = value(named(name, parts.next())?, "version")?;
            Some(format!("{name} {version}"))
        }));
    }
    Some(found.into_iter().collect::<Vec<_>>().join(","))
}

fn value<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::versions;

    const LOCK: &str = r#"version = 4

[[package]]
name = "one"
version = "1.2.3"
dependencies = [
 "two 1.0.0",
]

[[package]]
name = "two"
version = "1.0.0"

[[package]]
name = "two"
version = "2.0.1"

[[package]]
name = "bench"
version = "0.1.0"
dependencies = [
 "one",
 "two 2.0.1",
]

[[package]]
name = "shown"
version = "0.1.0"
dependencies = [
 "bench",
 "one",
 "two 1.0.0",
]
"#;

    #[test]
    fn only_direct_dependencies_are_named_each_in_the_version_used() {
        assert_eq!(versions(LOCK, &["bench"]).as_deref(), Some("one 1.2.3,two 2.0.1"));
        assert_eq!(versions(LOCK, &["one"]).as_deref(), Some("two 1.0.0"));
    }

    #[test]
    fn common_dependencies_are_named_once_and_the_packages_are_not() {
        let both = versions(LOCK, &["shown", "bench"]);
        assert_eq!(both.as_deref(), Some("one 1.2.3,two 1.0.0,two 2.0.1"));
    }

    #[test]
    fn what_is_not_there_is_no_list() {
        assert_eq!(versions(LOCK, &["absent", "bench"]), None);
        assert_eq!(versions(LOCK, &["two"]), None);
        assert_eq!(versions("", &["bench"]), None);
    }
}
