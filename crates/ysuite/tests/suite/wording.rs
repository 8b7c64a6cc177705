//! The wording of what people read: no word that `docs/glossary.md` retires, short sentences where a reader begins, and documents that
//! are no longer than a person reads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::documents::{pages, root};

/// Words that the glossary retires, in lower case. Only those that have no other use: an *end*, a *seat* or a *place* may be meant.
const RETIRED: [&str; 20] = [
    "whoever",
    "so many",
    "hunt",
    "hunts",
    "rival",
    "rivals",
    "contestant",
    "contestants",
    "foreign code",
    "notice board",
    "gives way",
    "give way",
    "giving way",
    "loses its cpu",
    "lost its cpu",
    "looks away",
    "look away",
    "orphaned",
    "deserted",
    "broke its word",
];

/// As well, in pages: in code an exchange is one of an atomic, and C and C++ have their own names of the kinds.
const RETIRED_IN_PAGES: [&str; 4] = ["funnel", "an exchange", "missed mutant", "missed mutants"];

/// All files of the repository that have one of these endings.
fn files(below: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_symlink() || name.starts_with('.') || name == "target" {
            continue;
        }
        if path.is_dir() {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// What a line of code says to people: its comment, and its string literals.
fn said(line: &str) -> String {
    let comment = line.find("//").map_or("", |at| &line[at..]);
    let strings: Vec<_> = line.split('"').skip(1).step_by(2).collect();
    format!("{comment}\n{}", strings.join("\n"))
}

/// Whether the text has these words, not as part of others.
fn has(text: &str, words: &str) -> bool {
    let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    text.match_indices(words).any(|(at, _)| {
        let bytes = text.as_bytes();
        !is_letter(at.checked_sub(1).map(|before| bytes[before])) && !is_letter(bytes.get(at + words.len()).copied())
    })
}

#[test]
fn no_word_is_used_that_the_glossary_retires() {
    let (mut found, mut used) = (Vec::new(), Vec::new());
    files(&root().join("../.."), &[".md", ".rs", ".h", ".hpp", ".toml"], &mut found);
    assert!(found.len() > 800, "only {} files", found.len());
    for path in found {
        if path.ends_with("docs/glossary.md") || path.ends_with("suite/wording.rs") {
            continue;
        }
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        // In C, in Python, and between processes, kinds have these names.
        let is_of_c = path
            .components()
            .any(|part| ["ysuite-c", "ysuite-shm", "python"].iter().any(|name| part.as_os_str() == *name))
            || path.ends_with("c-and-cpp.md");
        let text = fs::read_to_string(&path).expect("a text").to_lowercase();
        for (number, line) in text.lines().enumerate() {
            let line = if is_page { line.to_owned() } else { said(line) };
            let more = if is_page && !is_of_c { &RETIRED_IN_PAGES[..] } else { &[] };
            for words in RETIRED.iter().chain(more).filter(|words| has(&line, words)) {
                used.push(format!("{}:{}: {words}", path.display(), number + 1));
            }
        }
    }
    assert!(used.is_empty(), "docs/glossary.md has the word instead of these: {used:#?}");
}

/// Without code, tables, headings and the targets of links; list items are sentences of their own.
fn prose(page: &str) -> Vec<String> {
    let (mut paragraphs, mut open, mut is_code) = (Vec::new(), String::new(), false);
    for line in page.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let starts_item = line.starts_with("* ")
            || line.starts_with("- ")
            || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if is_code || line.is_empty() || line.starts_with(['|', '#', '<']) || starts_item {
            paragraphs.push(core::mem::take(&mut open));
        }
        if !is_code && !line.starts_with(['|', '#', '<']) {
            open.push_str(line);
            open.push(' ');
        }
    }
    paragraphs.push(open);
    paragraphs
}

/// The longest sentence of a page, in words.
fn longest_sentence(page: &str) -> (usize, String) {
    let sentences = prose(page).into_iter().flat_map(|paragraph| {
        let ends = |sentence: &str| sentence.split_whitespace().count();
        let mut sentences: Vec<_> = paragraph.split(['.', '!', '?', ':', ';']).map(str::to_owned).collect();
        // A point within a word ends no sentence: a version, a path.
        let mut joined: Vec<String> = Vec::new();
        for sentence in sentences.drain(..) {
            match joined.last_mut() {
                Some(last) if !sentence.starts_with([' ', '*', ')']) => {
                    last.push('.');
                    last.push_str(&sentence);
                }
                _ => joined.push(sentence),
            }
        }
        joined.into_iter().map(move |sentence| (ends(&sentence), sentence)).collect::<Vec<_>>()
    });
    sentences.max().unwrap_or_default()
}

#[test]
fn no_sentence_is_longer_than_forty_words_where_a_reader_begins() {
    let repository = root().join("../..");
    let mut found = vec![repository.join("README.md")];
    pages(&repository.join("docs/guide"), &mut found);
    assert!(found.len() > 6);
    for path in found {
        let (words, sentence) = longest_sentence(&fs::read_to_string(&path).expect("a page"));
        assert!(words <= 40, "{}: {words} words: {sentence}", path.display());
    }
    let front: String = fs::read_to_string(root().join("src/lib.rs"))
        .expect("the front page")
        .lines()
        .take_while(|line| line.starts_with("//!") || line.starts_with("#!") || line.is_empty())
        .filter_map(|line| line.strip_prefix("//!").map(|line| format!("{}\n", line.trim())))
        .collect();
    assert!(front.len() > 1_000, "no front page was read");
    let (words, sentence) = longest_sentence(&front);
    assert!(words <= 40, "the front page: {words} words: {sentence}");
}

#[test]
fn documents_are_of_a_length_that_is_read() {
    let repository = root().join("../..");
    let mut found = Vec::new();
    pages(&repository, &mut found);
    let count = |page: &PathBuf| fs::read_to_string(page).expect("a page").split_whitespace().count();
    // Workspaces of their own, for readers of their own.
    for (workspace, most) in [("drop-in", 700), ("python", 250)] {
        let (of_it, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|page| page.starts_with(repository.join(workspace)));
        found = others;
        let apart: usize = of_it.iter().map(count).sum();
        assert!((1..=most).contains(&apart), "{apart} words in {workspace}");
    }
    // Rows of figures; their words are in `measurements.in.md`.
    found.retain(|page| !page.ends_with("docs/benchmarks/measurements.md"));
    let words: usize = found.iter().map(count).sum();
    assert!((10_000..=41_100).contains(&words), "{words} words in {} pages", found.len());
    let readme = fs::read_to_string(repository.join("README.md")).expect("README.md");
    assert!(readme.split_whitespace().count() <= 800, "README.md has more than 800 words");
    let mut all = Vec::new();
    files(&repository.join("docs"), &[""], &mut all);
    let large: Vec<_> = all
        .iter()
        .filter(|path| fs::metadata(path).expect("a file").len() > 60 * 1024)
        .map(|path| path.display().to_string())
        .collect();
    assert!(large.is_empty(), "more than 60 KB: {large:#?}");
}

#[test]
fn the_index_of_findings_names_each_script_and_its_versions() {
    let folder = root().join("../../findings");
    let index = fs::read_to_string(folder.join("index.txt")).expect("findings/index.txt");
    let mut scripts = Vec::new();
    files(&folder, &["sh"], &mut scripts);
    assert!(!scripts.is_empty());
    // A script's line begins with its name; the one behind it is indented.
    let named: Vec<_> = index
        .lines()
        .filter_map(|line| Some((line.split_once(".sh ")?.0, line)))
        .filter(|(name, _)| !name.contains(' '))
        .collect();
    assert_eq!(named.len(), scripts.len());
    for script in scripts {
        let name = script.file_stem().and_then(|name| name.to_str()).expect("a name");
        let (_, line) = named.iter().find(|(named, _)| *named == name).unwrap_or_else(|| panic!("{name} is missing"));
        let text = fs::read_to_string(&script).expect("a script");
        let words = line.split_whitespace().map(|word| word.trim_end_matches(','));
        let versions: Vec<_> = words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit())).collect();
        assert!(!versions.is_empty(), "{name} has no version in the index");
        for version in versions {
            assert!(text.contains(version), "{name} does not speak of {version}");
        }
    }
}
