//! Makes the functions of Rust that write the page's templates: `templates/NAME.html` becomes `NAME.rs`, an expression that the
//! struct's `Display` includes. So a template is checked as it is compiled, and no parser of a template language has to
//! be compiled first.
//!
//! | in a template | becomes |
//! |---|---|
//! | `{{ value }}` | the value as text, with `&`, `<`, `>` and quotation marks escaped |
//! | `{{ value\|safe }}` | the value as it is: HTML already |
//! | `{{- value -}}` | the same, without the white space before and after it |
//! | `{% for PATTERN in VALUES %}`, `{% if ... %}`, `{% else if ... %}`, `{% else %}`, `{% end %}` | the same in Rust |
//! | `{% match VALUE %}`, `{% when PATTERN %}`, `{% end %}` | `match`, and its arms |
//! | `{% let PATTERN = VALUE %}` | the same in Rust |
//! | `{% include "FILE" %}` | the template of that file |
//!
//! Everything else inside braces is Rust as well. It sees the variables of the place that includes the expression, among
//! them the formatter `out`.

use std::path::Path;
use std::{fs, io};

/// Writes `NAME.rs` into `to` for each template.
pub(crate) fn compile(from: &Path, to: &Path) -> io::Result<()> {
    for file in fs::read_dir(from)? {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "html") {
            let mut code = String::from("{\n");
            translate(from, &path, &mut code)?;
            code.push_str("Ok(())\n}\n");
            fs::write(to.join(path.with_extension("rs").file_name().unwrap_or_default()), code)?;
        }
    }
    Ok(())
}

fn translate(folder: &Path, path: &Path, code: &mut String) -> io::Result<()> {
    let template = fs::read_to_string(path)?;
    // The last line ends in the file, not in the page.
    let mut rest = template.strip_suffix('\n').unwrap_or(&template);
    let mut trimmed = false;
    // Whether a `match` waits for its first arm.
    let mut opened = false;
    loop {
        let next = ["{{", "{%"].iter().filter_map(|opens| rest.find(opens)).min();
        let text = &rest[..next.unwrap_or(rest.len())];
        let text = if trimmed { text.trim_start() } else { text };
        trimmed = false;
        let Some(at) = next else {
            write(text, code);
            return Ok(());
        };
        let (opens, after) = rest[at..].split_at(2);
        let closes = if opens == "{{" { "}}" } else { "%}" };
        let (inside, after) = after.split_once(closes).ok_or_else(|| wrong(path, "a brace is not closed"))?;
        rest = after;
        if opens == "{{" {
            let before = inside.strip_prefix('-');
            let value = before.unwrap_or(inside);
            write(if before.is_some() { text.trim_end() } else { text }, code);
            let shorter = value.strip_suffix('-');
            trimmed = shorter.is_some();
            let value = shorter.unwrap_or(value).trim();
            match value.strip_suffix("|safe") {
                Some(value) => code.push_str(&format!("std::fmt::Display::fmt(&({value}), out)?;\n")),
                None => code.push_str(&format!("escaped(&({value}), out)?;\n")),
            }
            continue;
        }
        if opened {
            opened = false;
        } else {
            write(text, code);
        }
        let tag = inside.trim();
        let (word, what) = tag.split_once(' ').unwrap_or((tag, ""));
        match word {
            "for" | "if" => code.push_str(&format!("{tag} {{\n")),
            "else" => code.push_str(&format!("}} {tag} {{\n")),
            "end" => code.push_str("}\n"),
            "let" => code.push_str(&format!("{tag};\n")),
            "match" => {
                code.push_str(&format!("match {what} {{ "));
                opened = true;
            }
            // The first one follows its `match`; each other one ends the arm before it.
            "when" => {
                let ends = if code.ends_with("{ ") { "" } else { "}\n" };
                code.push_str(&format!("{ends}{what} => {{\n"));
            }
            "endmatch" => code.push_str("}\n}\n"),
            "include" => {
                let file = folder.join(what.trim_matches('"'));
                translate(folder, &file, code)?;
            }
            _ => return Err(wrong(path, tag)),
        }
    }
}

/// Text as it stands.
fn write(text: &str, code: &mut String) {
    if !text.is_empty() {
        code.push_str(&format!("out.write_str({text:?})?;\n"));
    }
}

fn wrong(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{}: {what}", path.display()))
}
