//! Reads files such as `.env`.

use std::fs;
use std::path::Path;

/// Returns the value of a name in a file of `NAME=VALUE` lines.
pub fn value(path: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines()
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_string())
}
