//! What a source says: which rooms it imports, and which types it declares. Not a parser: it reads words, braces and
//! attributes, and leaves out comments, literals and test code.

/// A name, a number, or one character of punctuation.
type Word<'a> = &'a str;

/// A type that a source declares.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    /// It, or a module around it, is only there under some cfg.
    pub(super) under_cfg: bool,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The first name after `crate::`, and after the `super::`s that lead there.
    pub(super) imports: Vec<String>,
    pub(super) types: Vec<Declared>,
}

/// The modules of a file below `src`.
pub(super) fn modules(file: &str) -> Vec<&str> {
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    path.split('/').collect()
}

/// What a file of that module holds.
pub(super) fn read(modules: &[&str], text: &str) -> Found {
    let words = without_tests(&words(text));
    Walk { words: &words, modules: modules.len(), braces: Vec::new(), found: Found::default() }.run()
}

/// What is between braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Module,
    /// An `impl` or a trait: its types are associated.
    Associated,
    Other,
}

struct Walk<'a> {
    words: &'a [Word<'a>],
    modules: usize,
    /// What the walk is in, from the outside in, and whether that is under a cfg.
    braces: Vec<(Inside, bool)>,
    found: Found,
}

impl Walk<'_> {
    fn word(&self, at: usize) -> Word<'_> {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn is_path(&self, at: usize) -> bool {
        self.word(at) == ":" && self.word(at + 1) == ":"
    }

    fn run(mut self) -> Found {
        let (mut next, mut cfg, mut at) = (None, false, 0);
        while at < self.words.len() {
            match self.word(at) {
                "#" if attribute(self.words, at).is_some() => {
                    let end = attribute(self.words, at).expect("an attribute");
                    cfg |= self.words[at..end].contains(&"cfg");
                    at = end;
                    continue;
                }
                "mod" => next = next.or(Some(Inside::Module)),
                "impl" | "trait" => next = next.or(Some(Inside::Associated)),
                "fn" => next = next.or(Some(Inside::Other)),
                "{" => {
                    self.braces.push((next.take().unwrap_or(Inside::Other), cfg));
                    cfg = false;
                }
                "}" => {
                    self.braces.pop();
                    (next, cfg) = (None, false);
                }
                ";" => (next, cfg) = (None, false),
                "crate" => self.import(at + 1),
                "super" => self.import_by_super(at),
                _ => {}
            }
            self.declaration(at, cfg);
            at += 1;
        }
        self.found
    }

    /// After `crate`, or the same.
    fn import(&mut self, at: usize) {
        if self.word(at) == "as" {
            self.found.imports.push("crate as".to_owned());
        }
        if !self.is_path(at) {
            return;
        }
        if self.word(at + 2) != "{" {
            // A macro that is exported belongs to the crate, and to no room.
            if self.word(at + 3) != "!" {
                self.found.imports.push(self.word(at + 2).to_owned());
            }
            return;
        }
        let (mut depth, mut at) = (0, at + 2);
        while at < self.words.len() {
            match self.word(at) {
                "{" => depth += 1,
                "}" if depth == 1 => return,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 1 && matches!(self.word(at), "{" | ",") && self.word(at + 1) != "}" {
                self.found.imports.push(self.word(at + 1).to_owned());
            }
            at += 1;
        }
    }

    fn import_by_super(&mut self, mut at: usize) {
        if at >= 3 && self.word(at - 3) == "super" && self.is_path(at - 2) {
            return;
        }
        let mut supers = 1;
        while self.is_path(at + 1) && self.word(at + 3) == "super" {
            supers += 1;
            at += 3;
        }
        let inline = self.braces.iter().filter(|(inside, _)| *inside == Inside::Module).count();
        if supers == self.modules + inline {
            self.import(at + 1);
        }
    }

    fn declaration(&mut self, at: usize, cfg: bool) {
        let name = self.word(at + 1);
        let is_declaration = match self.word(at) {
            "struct" | "enum" | "trait" => true,
            "union" => matches!(self.word(at + 2), "{" | "<"),
            "type" => !matches!(self.braces.last(), Some((Inside::Associated, _))),
            _ => false,
        };
        if !is_declaration || !name.starts_with(char::is_alphabetic) || (at > 0 && self.word(at - 1) == "$") {
            return;
        }
        let under_cfg = cfg || self.braces.iter().any(|(_, cfg)| *cfg);
        let name = name.to_owned();
        self.found.types.push(Declared { name, under_cfg });
    }
}

/// Where the attribute ends that begins here.
fn attribute(words: &[Word<'_>], at: usize) -> Option<usize> {
    let open = at + 1 + usize::from(words.get(at + 1) == Some(&"!"));
    (words.get(open) == Some(&"[")).then(|| closing(words, open) + 1)
}

/// The word that closes the bracket which is opened here.
fn closing(words: &[Word<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().skip(open) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    words.len() - 1
}

fn without_tests<'a>(words: &[Word<'a>]) -> Vec<Word<'a>> {
    let (mut shipped, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let Some(end) = (words[at] == "#").then(|| attribute(words, at)).flatten() else {
            shipped.push(words[at]);
            at += 1;
            continue;
        };
        let is_test = matches!(&words[at..end], ["#", "[", "cfg", "(", "test", ..])
            || matches!(&words[at..end], ["#", "[", "cfg", "(", "all", "(", "test", ..]);
        if is_test {
            at = behind_item(words, end);
        } else {
            shipped.extend(&words[at..end]);
            at = end;
        }
    }
    shipped
}

/// Where the item, statement or field ends that begins here.
fn behind_item(words: &[Word<'_>], mut at: usize) -> usize {
    const ITEMS: [&str; 14] = [
        "async", "const", "enum", "extern", "fn", "impl", "let", "mod", "static", "struct", "trait", "type", "unsafe",
        "use",
    ];
    while let Some(end) = (words.get(at) == Some(&"#")).then(|| attribute(words, at)).flatten() {
        at = end;
    }
    if words.get(at) == Some(&"pub") {
        at = if words.get(at + 1) == Some(&"(") { closing(words, at + 1) + 1 } else { at + 1 };
    }
    let is_item = words.get(at).is_some_and(|word| ITEMS.contains(word));
    while at < words.len() {
        match words[at] {
            "{" => return closing(words, at) + 1,
            "(" | "[" => at = closing(words, at),
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" | ")" | "]" => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The words of a source, without its comments and literals of text.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = literal(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            words.push(&rest[..length]);
            length
        } else {
            if !first.is_whitespace() {
                words.push(&rest[..first.len_utf8()]);
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    words
}

/// How long the comment is that begins here. They nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (1, 2);
    while depth > 0 {
        let Some(found) = text[at..].find(['*', '/']) else { return text.len() };
        at += found;
        let step = text.get(at..at + 2).unwrap_or_default();
        depth = match step {
            "/*" => depth + 1,
            "*/" => depth - 1,
            _ => depth,
        };
        at += if matches!(step, "/*" | "*/") { 2 } else { 1 };
    }
    at
}

/// How long the string, character or lifetime is that begins here, if one does.
fn literal(text: &str) -> Option<usize> {
    if let Some(behind) = text.strip_prefix('\'') {
        let first = behind.chars().next()?;
        if first == '\\' {
            return Some(3 + behind[2..].find('\'')? + 1);
        }
        let character = 1 + first.len_utf8();
        return Some(if text[character..].starts_with('\'') { character + 1 } else { 1 });
    }
    let start = text.trim_start_matches(['b', 'c', 'r']);
    let prefix = text.len() - start.len();
    if prefix > 2 {
        return None;
    }
    let hashes = start.len() - start.trim_start_matches('#').len();
    let is_raw = text[..prefix].contains('r');
    if !start[hashes..].starts_with('"') || (hashes > 0 && !is_raw) {
        return None;
    }
    let mut at = prefix + hashes + 1;
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(at + text[at..].find(&end)? + end.len());
    }
    loop {
        at += text[at..].find(['"', '\\'])?;
        if text[at..].starts_with('"') {
            return Some(at + 1);
        }
        // A backslash and what it speaks for.
        at += 1 + text[at + 1..].chars().next()?.len_utf8();
    }
}
