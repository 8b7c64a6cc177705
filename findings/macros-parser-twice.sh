#!/usr/bin/env bash
# tokio-macros, futures-macro, tracing-attributes, zerocopy-derive: an update of the last digit makes a program compile syn
# twice.
#
# Derives and attributes parse Rust with syn, which is most of what they cost. A program with `#[tokio::main]` and
# `#[tracing::instrument]` had one syn. Then tokio-macros went from syn 2 to syn 3 between 2.7.1 and 2.7.2, and futures-macro
# between 0.3.33 and 0.3.34: releases that `cargo update` takes without being asked. tracing-attributes 0.1.31 and
# zerocopy-derive 0.8.63 are with syn 2. Cargo cannot join two major versions, so the same program builds two parsers now, and
# one crate of each side is enough. The versions of syn that cargo builds for two crates whose macros nobody calls, by
# `cargo build --message-format=json` with Rust 1.95.0:
#
#     tokio-macros 2.7.1, tracing-attributes 0.1.31: syn 2
#     tokio-macros 2.7.2, tracing-attributes 0.1.31: syn 2 3
#     futures-macro 0.3.33, zerocopy-derive 0.8.63: syn 2
#     futures-macro 0.3.34, zerocopy-derive 0.8.63: syn 2 3
#     tokio-macros 2.7.2, futures-macro 0.3.34: syn 3
#
# Fails if that changes. Needs cargo and a C linker; writes only below a temporary folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
echo 'fn main() {}' >"$folder/src/main.rs"

# The major versions of syn that a program with these crates compiles. Each argument is a name, a space and a version.
parsers() {
    {
        printf '[package]\nname = "finding"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n'
        for crate; do echo "${crate% *} = \"=${crate#* }\""; done
    } >"$folder/Cargo.toml"
    rm -f "$folder/Cargo.lock"
    CARGO_TARGET_DIR="$folder/target" cargo build --quiet --manifest-path "$folder/Cargo.toml" --message-format=json |
        grep -o '"package_id":"[^"]*[#/]syn@[0-9]*' | sed 's/.*@//' | sort -u | xargs
}

while IFS=, read -r one other expected; do
    found=$(parsers "$one" "$other")
    echo "$one, $other: syn $found"
    [ "$found" = "$expected" ] || { echo "expected syn $expected" >&2; exit 1; }
done <<'PAIRS'
tokio-macros 2.7.1,tracing-attributes 0.1.31,2
tokio-macros 2.7.2,tracing-attributes 0.1.31,2 3
futures-macro 0.3.33,zerocopy-derive 0.8.63,2
futures-macro 0.3.34,zerocopy-derive 0.8.63,2 3
tokio-macros 2.7.2,futures-macro 0.3.34,3
PAIRS
