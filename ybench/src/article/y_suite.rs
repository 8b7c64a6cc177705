use crate::{cli::Request, error::Error};
pub const ABOUT: &str = "x";
pub fn run(_: &Request) -> Result<(), Error> { Ok(()) }
