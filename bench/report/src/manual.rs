//! What a package has beside the program: completions for a shell, and the man page. Both are made from the command line
//! itself when the package is built.

use clap::CommandFactory;
use clap_complete::Shell;
use ybench_measure::error::Error;

use crate::cli::Cli;
use crate::output::say;

/// Prints the completions of a shell.
pub fn completions(shell: Shell) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ybench", &mut text);
    say(String::from_utf8_lossy(&text).trim_end());
}

/// Prints the man page.
///
/// # Errors
///
/// If it cannot be made.
pub fn man() -> Result<(), Error> {
    let mut text = Vec::new();
    let made = clap_mangen::Man::new(Cli::command()).render(&mut text);
    made.map_err(|cause| Error::Unwritten { path: "standard output".to_owned(), cause })?;
    say(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}
