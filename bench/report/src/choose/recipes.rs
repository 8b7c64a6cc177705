//! The lines of code of each answer, from files that the tests compile.

const RUST: &str = include_str!("../../recipes/rust.rs");
const CPP: &str = include_str!("../../recipes/cpp.cpp");

/// The lines of Rust of this name.
pub(super) fn rust(name: &str) -> Option<String> {
    between(RUST, name)
}

/// The lines of C++, where the binding has it.
pub(super) fn cpp(name: &str) -> Option<String> {
    between(CPP, name)
}

/// What stands between the marks of a recipe, without its indentation.
fn between(text: &str, name: &str) -> Option<String> {
    let mark = format!("// recipe: {name}");
    let mut lines = text.lines().skip_while(|line| line.trim() != mark).skip(1).peekable();
    let indent = lines.peek()?.chars().take_while(|letter| *letter == ' ').count();
    let own = lines.take_while(|line| line.trim() != "// end");
    Some(own.map(|line| line.get(indent..).unwrap_or_default()).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_ends_where_it_ends() {
        assert_eq!(rust("spsc").unwrap(), "let (mut tx, mut rx) = ysuite::spsc::unbounded::<Message>();");
        assert_eq!(cpp("spsc").unwrap(), "auto [tx, rx] = ys::pipe<message>();");
        assert!(rust("epoll").unwrap().lines().count() > 2 && rust("epoll").unwrap().starts_with("use "));
        assert_eq!((rust("nothing"), cpp("watch")), (None, None));
    }
}
