//! What it costs to compile a library: a program of one line that sends and receives one number through it, built
//! from nothing by cargo in a folder of its own.
//!
//! The CPU time is the user time of cargo and of all processes below it, so a busy machine changes it little. Packages are
//! fetched before the first build, and no build uses the network.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;
use std::time::Instant;

use super::Kind;
use crate::error::{Error, Fault};
use crate::frame::Frame;
use crate::outcome::{Metric, Outcome};
use crate::plan;
use crate::record::{Contestant, Family, Kind as Role, Unit};
use crate::rounds::{Contender, Length, Plan};

/// A session each.
pub const SCENARIOS: [&str; 2] = ["compile-release", "compile-debug"];

/// The baseline: a program that prints a number.
const NOTHING: &str = "no channel";

const THROUGH_YSUITE: &str = "let (mut sender, mut receiver) = ysuite::mpsc::unbounded(); sender.send(1u64).unwrap(); \
                              println!(\"{}\", receiver.recv().unwrap());";

/// The other libraries, the line of the dependency, and the program.
const PEERS: [(&str, &str, &str); 7] = [
    (
        "std",
        "",
        "let (sender, receiver) = std::sync::mpsc::channel(); sender.send(1u64).unwrap(); \
         println!(\"{}\", receiver.recv().unwrap());",
    ),
    (
        "crossbeam-channel",
        "crossbeam-channel = \"=0.5.17\"",
        "let (sender, receiver) = crossbeam_channel::unbounded(); sender.send(1u64).unwrap(); \
         println!(\"{}\", receiver.recv().unwrap());",
    ),
    (
        "tokio",
        "tokio = { version = \"=1.54.1\", default-features = false, features = [\"sync\"] }",
        "let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel(); sender.send(1u64).unwrap(); \
         println!(\"{}\", receiver.blocking_recv().unwrap());",
    ),
    (
        "flume",
        "flume = \"=0.12.0\"",
        "let (sender, receiver) = flume::unbounded(); sender.send(1u64).unwrap(); \
         println!(\"{}\", receiver.recv().unwrap());",
    ),
    (
        "kanal",
        "kanal = \"=0.1.1\"",
        "let (sender, receiver) = kanal::unbounded(); sender.send(1u64).unwrap(); \
         println!(\"{}\", receiver.recv().unwrap());",
    ),
    (
        "async-channel",
        "async-channel = \"=2.5.0\"",
        "let (sender, receiver) = async_channel::unbounded(); sender.send_blocking(1u64).unwrap(); \
         println!(\"{}\", receiver.recv_blocking().unwrap());",
    ),
    (
        "oneshot",
        "oneshot = { version = \"=0.2.1\", features = [\"async\", \"std\"] }",
        "let (sender, receiver) = oneshot::channel(); sender.send(1u64).unwrap(); \
         println!(\"{}\", receiver.recv().unwrap());",
    ),
];

/// The `ysuite` to compile.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Tree(PathBuf),
    Version(String),
}

impl Source {
    /// A folder with the package, or a version of it; the tree that this program was built from, if nothing is asked.
    fn of(asked: Option<&str>) -> Result<Self, Error> {
        let refuse = |sentence: String| Err(Error::Refused(sentence));
        let text = asked.unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/ysuite"));
        if let Ok(path) = Path::new(text).canonicalize() {
            let package = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
            if package.lines().any(|line| line.trim() == "name = \"ysuite\"") {
                return Ok(Self::Tree(path));
            }
            return refuse(format!(
                "{text} is not the folder of the package ysuite: there is no such Cargo.toml in it."
            ));
        }
        let version = text.trim_start_matches(['=', '^', '~']);
        match asked {
            Some(_) if version.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(['"', '\\']) => {
                Ok(Self::Version(text.to_owned()))
            }
            Some(_) => refuse(format!("--ysuite takes the folder of the package ysuite, or a version, not '{text}'.")),
            None => refuse(
                "The tree that this program was built from is gone; --ysuite names another, or a version.".to_owned(),
            ),
        }
    }

    fn dependency(&self, features: Option<&Features>) -> String {
        let source = match self {
            // As TOML spells a string; a path of the temporary folder's user has no control characters.
            Self::Tree(path) => format!("path = {:?}", path.display().to_string()),
            Self::Version(version) => format!("version = \"{version}\""),
        };
        format!("ysuite = {{ {source}{} }}", features.map_or(String::new(), Features::spelled))
    }

    /// The lock file of its workspace: the versions that it is tested with.
    fn lock(&self) -> PathBuf {
        match self {
            Self::Tree(path) => path.join("../../Cargo.lock"),
            Self::Version(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock"),
        }
    }
}

/// A set of features of `ysuite`, without the default ones unless `default` is one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Features(Vec<String>);

impl Features {
    /// Of "mpsc,oneshot".
    fn of(text: &str) -> Result<Self, Error> {
        let named = |name: &&str| !name.is_empty();
        let names: Vec<String> = text.split(',').map(str::trim).filter(named).map(str::to_owned).collect();
        let odd = |letter: char| !letter.is_ascii_alphanumeric() && !['-', '_'].contains(&letter);
        match names.iter().find(|name| name.contains(odd)) {
            Some(name) => Err(Error::Refused(format!("--features takes names of features, not '{name}'."))),
            None => Ok(Self(names)),
        }
    }

    fn spelled(&self) -> String {
        let without = if self.0.iter().any(|name| name == "default") { "" } else { ", default-features = false" };
        let named: Vec<String> =
            self.0.iter().filter(|name| *name != "default").map(|name| format!("\"{name}\"")).collect();
        format!("{without}, features = [{}]", named.join(", "))
    }
}

/// The request, checked; nothing is started yet.
#[derive(Clone, Debug)]
pub struct Compile {
    source: Source,
    features: Vec<Features>,
}

impl Compile {
    /// # Errors
    ///
    /// Refuses a `ysuite` that is not there, odd names of features, and a system without cargo.
    pub fn of(ysuite: Option<&str>, features: &[String]) -> Result<Self, Error> {
        let source = Source::of(ysuite)?;
        let features = features.iter().map(|text| Features::of(text)).collect::<Result<_, _>>()?;
        match cargo().arg("--version").output() {
            Ok(output) if output.status.success() => Ok(Self { source, features }),
            Ok(output) => Err(Error::Refused(format!("--compile needs cargo, which fails: {}.", last_line(&output)))),
            Err(cause) => Err(Error::Refused(format!("--compile needs cargo, which cannot be started: {cause}."))),
        }
    }

    /// In a sentence.
    pub fn source(&self) -> String {
        match &self.source {
            Source::Tree(path) => format!("ysuite is compiled from {}.", path.display()),
            Source::Version(version) => format!("ysuite is compiled in version {version}."),
        }
    }

    /// A session of release builds and one of debug builds, of the libraries of these kinds. Fetches their packages.
    ///
    /// # Errors
    ///
    /// Refuses a library whose packages cannot be fetched.
    pub fn plans(&self, kinds: &[&Kind], frame: Frame) -> Result<[Plan; 2], Error> {
        let folder = Rc::new(Folder::new()?);
        let mut projects = Vec::new();
        for program in self.programs(kinds) {
            projects.push(Rc::new(Project::made(program, projects.len(), &self.source, &folder)?));
        }
        Ok(SCENARIOS.map(|scenario| {
            let release = scenario == SCENARIOS[0];
            let contenders = projects.iter().map(|project| contender(project.clone(), release)).collect();
            let about = "A program of one line, built from nothing: CPU time of cargo and all it starts";
            Plan { limit: NOTHING, ..plan::plan(scenario, about, None, frame, frame.floor(), contenders) }
        }))
    }

    fn programs(&self, kinds: &[&Kind]) -> Vec<Program> {
        let wanted = |library: &str| kinds.iter().any(|kind| kind.library == library);
        let program = |name: &str, dependency: &str, line: &'static str| {
            let (name, dependency) = (name.to_owned(), dependency.to_owned());
            Program { family: family(&name), name, dependency, line }
        };
        let mut all = vec![program(NOTHING, "", "println!(\"{}\", 1u64);")];
        if wanted("ysuite") {
            all.push(program("ysuite", &self.source.dependency(None), THROUGH_YSUITE));
            for features in &self.features {
                let named = if features.0.is_empty() { "no features".to_owned() } else { features.0.join(", ") };
                let name = format!("ysuite [{named}]");
                all.push(program(&name, &self.source.dependency(Some(features)), THROUGH_YSUITE));
            }
        }
        let peers = PEERS.iter().filter(|(name, ..)| wanted(name));
        all.extend(peers.map(|(name, dependency, line)| program(name, dependency, line)));
        all
    }
}

fn family(name: &str) -> Family {
    match name {
        "std" | NOTHING => Family::Std,
        ours if ours.starts_with("ysuite") => Family::Ours,
        _ => Family::Crates,
    }
}

struct Program {
    name: String,
    family: Family,
    dependency: String,
    line: &'static str,
}

/// A temporary folder, which goes with this.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("ybench-compile-{}", std::process::id()));
        let made = fs::create_dir(&path);
        made.map_err(|cause| Error::Refused(format!("{} cannot be made: {cause}.", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program with its packages fetched.
struct Project {
    program: Program,
    path: PathBuf,
    _folder: Rc<Folder>,
}

/// The name of every program.
const CALLED: &str = "one-line";

impl Project {
    fn made(program: Program, number: usize, source: &Source, folder: &Rc<Folder>) -> Result<Self, Error> {
        let path = folder.0.join(number.to_string());
        let made = Self { program, path, _folder: folder.clone() };
        let refuse =
            |why: String| Error::Refused(format!("The packages of {} cannot be had: {why}.", made.program.name));
        made.written(source).map_err(|cause| refuse(cause.to_string()))?;
        let fetched = made.cargo(&["fetch", "--quiet"]).map_err(|cause| refuse(cause.to_string()))?;
        if !fetched.status.success() {
            return Err(refuse(last_line(&fetched)));
        }
        Ok(made)
    }

    fn written(&self, source: &Source) -> io::Result<()> {
        fs::create_dir_all(self.path.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"{CALLED}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n{}\n\n\
             [profile.dev]\nstrip = true\n\n[profile.release]\nstrip = true\n\n[workspace]\n",
            self.program.dependency
        );
        fs::write(self.path.join("Cargo.toml"), manifest)?;
        fs::write(self.path.join("src/main.rs"), format!("fn main() {{ {} }}\n", self.program.line))?;
        // Without it the newest versions are taken.
        match fs::copy(source.lock(), self.path.join("Cargo.lock")) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
            _ => Ok(()),
        }
    }

    fn cargo(&self, arguments: &[&str]) -> io::Result<Output> {
        // In a group of its own: Ctrl-C ends the session after this build, and not the build.
        cargo().args(arguments).current_dir(&self.path).process_group(0).output()
    }

    fn build(&self, release: bool) -> Result<Outcome, Fault> {
        let target = self.path.join("target");
        match fs::remove_dir_all(&target) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause.into()),
            _ => {}
        }
        let mut arguments = vec!["build", "--offline", "--quiet", "--message-format=json"];
        arguments.extend(release.then_some("--release"));
        let (before, start) = (user_time_of_children()?, Instant::now());
        let built = self.cargo(&arguments)?;
        let (time, nanoseconds) = (start.elapsed().as_nanos() as f64, user_time_of_children()? - before);
        if !built.status.success() {
            return Err(Fault::OfGuest(format!("could not be compiled: {}", last_line(&built))));
        }
        let program = target.join(if release { "release" } else { "debug" }).join(CALLED);
        let packages = packages(&String::from_utf8_lossy(&built.stdout)) - 1;
        let metrics = [
            (Metric::BuildTime, time),
            (Metric::ProgramBytes, fs::metadata(program)?.len() as f64),
            (Metric::Packages, packages as f64),
        ];
        Ok(Outcome { nanoseconds, metrics: metrics.into(), ..Outcome::default() })
    }
}

fn contender(project: Rc<Project>, release: bool) -> Contender {
    let Program { name, family, line, .. } = &project.program;
    let contestant = Contestant {
        name: name.clone(),
        kind: if name == NOTHING { Role::Limit } else { Role::Transport },
        unit: Unit::Build,
        family: Some(*family),
        explained: format!("fn main() {{ {line} }}"),
        ..Contestant::default()
    };
    Contender { contestant, length: Length::Units(1), run: Box::new(move |_| project.build(release)) }
}

/// The packages in cargo's messages: each artifact names its own.
fn packages(messages: &str) -> usize {
    let artifacts = messages.lines().filter(|line| line.contains("\"reason\":\"compiler-artifact\""));
    let package = |line: &'_ str| Some(line.split_once("\"package_id\":\"")?.1.split_once('"')?.0.to_owned());
    artifacts.filter_map(package).collect::<BTreeSet<_>>().len().max(1)
}

/// User time of all processes that this one has started and that have ended, and of those below them, in nanoseconds.
fn user_time_of_children() -> io::Result<f64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills all of it, or fails.
    let time = unsafe {
        if libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        usage.assume_init().ru_utime
    };
    Ok(time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3)
}

/// Cargo as if nothing had been set for another build.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    let other = |name: &str| {
        let set =
            ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "CARGO_INCREMENTAL"];
        let begun = ["CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_BUILD_"];
        set.contains(&name) || (name != "CARGO_BUILD_JOBS" && begun.iter().any(|begin| name.starts_with(begin)))
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(other) {
            command.env_remove(name);
        }
    }
    command
}

/// Of the errors, without its full stop.
fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let said = text.lines().rev().find(|line| !line.trim().is_empty());
    said.unwrap_or("it gives no reason").trim().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_the_versions_of_the_lock_file() {
        let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock")).unwrap();
        for (name, dependency, _) in PEERS.iter().filter(|(name, ..)| *name != "std") {
            let version = dependency.split_once("\"=").unwrap().1.split_once('"').unwrap().0;
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")), "{dependency}");
        }
    }

    #[test]
    fn every_library_is_that_of_a_kind_and_has_a_program() {
        let compile = Compile { source: Source::Version("1".into()), features: Vec::new() };
        let kinds: Vec<&Kind> = crate::footprint::all().iter().collect();
        let names: Vec<String> = compile.programs(&kinds).into_iter().map(|program| program.name).collect();
        for kind in kinds {
            assert!(names.iter().any(|name| name == kind.library), "{}", kind.library);
        }
        assert_eq!(compile.programs(&[]).len(), 1);
    }

    #[test]
    fn a_source_is_a_folder_or_a_version() {
        assert!(matches!(Source::of(None).unwrap(), Source::Tree(path) if path.ends_with("crates/ysuite")));
        for version in ["0.1", "=0.1.0", "^1"] {
            assert_eq!(Source::of(Some(version)).unwrap(), Source::Version(version.to_owned()));
        }
        for wrong in ["", "/", "nowhere", "./nowhere", "1\"", "~"] {
            assert_eq!(Source::of(Some(wrong)).unwrap_err().exit_status(), 2, "{wrong}");
        }
    }

    #[test]
    fn features_are_those_named_and_no_others() {
        let version = Source::Version("1".into());
        let spelled = |text: &str| version.dependency(Some(&Features::of(text).unwrap()));
        assert_eq!(
            spelled("mpsc, hub"),
            "ysuite = { version = \"1\", default-features = false, features = [\"mpsc\", \"hub\"] }"
        );
        assert_eq!(spelled("default,hub"), "ysuite = { version = \"1\", features = [\"hub\"] }");
        assert_eq!(spelled(""), "ysuite = { version = \"1\", default-features = false, features = [] }");
        assert_eq!(version.dependency(None), "ysuite = { version = \"1\" }");
        assert!(Features::of("a\"b").is_err() && Features::of("hub/x").is_err());
    }

    #[test]
    fn packages_are_counted_once() {
        let line =
            |package: &str| format!("{{\"reason\":\"compiler-artifact\",\"package_id\":\"{package}\",\"x\":1}}\n");
        let other = "{\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(packages(&[line("a"), line("b"), line("a"), other.to_owned()].concat()), 2);
        assert_eq!(packages(""), 1);
    }
}
