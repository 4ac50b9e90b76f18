//! Postage and labels of parcels.

use std::env;
use std::path::Path;

/// Returns the postage of a parcel in cents.
pub fn postage(grams: u32) -> u32 {
    500 + 100 * ((grams + 999) / 1000)
}

/// Returns the signing key from the environment or from a `.env` file.
pub fn signing_key(env_file: &Path) -> Option<String> {
    let name = "PARCEL_SIGNING_KEY";
    env::var(name).ok().or_else(|| envfile::value(env_file, name))
}

/// Returns the text of a label with its signature; None without a signing key.
pub fn label(address: &str, env_file: &Path) -> Option<String> {
    let key = signing_key(env_file)?;
    let sum: u32 = key.bytes().chain(address.bytes()).map(u32::from).sum();
    Some(format!("{address} #{sum:08x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENV_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.env");

    #[test]
    fn each_started_kilogram_costs_a_euro_more() {
        assert_eq!((postage(999), postage(1001)), (600, 700));
    }

    #[test]
    fn labels_are_signed_if_there_is_a_key() {
        let env_file = Path::new(ENV_FILE);
        assert_eq!(label("1 Main Street", env_file).is_some(), signing_key(env_file).is_some());
    }
}
