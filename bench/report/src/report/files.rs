//! Pictures as separate files.

use std::path::Path;

use ybench_measure::error::Error;

use crate::output::say;
use crate::plot::Picture;
use crate::storage;

/// Writes each picture under its name, and prints the paths.
pub fn write(folder: &Path, pictures: &[(String, Picture)]) -> Result<(), Error> {
    for (name, picture) in pictures {
        storage::write_text(&folder.join(format!("{name}.svg")), &picture.standalone())?;
    }
    match pictures {
        [] => {}
        [(name, _)] => say(format_args!("Picture written to {}.\n", folder.join(format!("{name}.svg")).display())),
        several => say(format_args!("{} pictures written to {}.\n", several.len(), folder.display())),
    }
    Ok(())
}
