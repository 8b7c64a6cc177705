//! The page in a real browser: nothing on its console, no request, a name for every picture, nothing wider than the
//! window. Ignored by default, because not every machine has a browser: `ci/steps/page` looks for one and runs this test.
//!
//! No browser window is as narrow as a phone, so the page is opened in a frame of that width. A script added to the
//! page reports its findings to the enclosing document, and the browser prints that document.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sample;

const PROBE: &str = r#"<script>
window.addEventListener("load", function () {
  var width = document.documentElement.clientWidth;
  var wide = [];
  document.querySelectorAll("body *").forEach(function (one) {
    if (one.closest(".scroll, svg, pre") && !one.matches(".scroll, svg, pre")) { return; }
    if (one.getBoundingClientRect().right > width + 1) { wide.push(one.tagName + "." + one.className); }
  });
  var nameless = [], empty = [];
  document.querySelectorAll("svg").forEach(function (one) {
    if (!(one.getAttribute("aria-label") || "").trim()) { nameless.push(one.outerHTML.slice(0, 80)); }
    if (!one.closest("details:not([open])") && one.getBoundingClientRect().height < 40) { empty.push(one.getAttribute("aria-label")); }
  });
  var figure = document.querySelector("figure");
  figure.focus();
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  var told = document.getElementById("tip").textContent;
  var found = {
    pictures: document.querySelectorAll("svg").length,
    requests: performance.getEntriesByType("resource").map(function (one) { return one.name; }),
    nameless: nameless, empty: empty, wide: wide, told: told,
    window: width, body: document.documentElement.scrollWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    background: getComputedStyle(document.body).backgroundColor
  };
  parent.postMessage(JSON.stringify(found), "*");
});
</script>
</body>"#;

/// The enclosing document: a frame, and an element for the findings.
const AROUND: &str = r#"<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0}iframe{border:0;display:block}</style>
<script>
window.addEventListener("message", function (event) { document.getElementById("found").textContent = event.data; });
</script>
<iframe src="PAGE" width="WIDTH" height="900"></iframe><pre id="found"></pre>"#;

/// The browser in $CHROME, or the first known one that starts.
fn browser() -> PathBuf {
    let named = std::env::var_os("CHROME").map(PathBuf::from);
    let known = ["chromium", "google-chrome", "chromium-browser", "google-chrome-stable"].map(PathBuf::from);
    let starts =
        |path: &PathBuf| Command::new(path).arg("--version").output().is_ok_and(|output| output.status.success());
    named.into_iter().chain(known).find(starts).expect("a browser: install chromium, or name one in CHROME")
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ybench-page");
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// The page of the complete made-up report, made by the program itself.
fn page(folder: &Path) -> PathBuf {
    let (json, html) = (folder.join("run.json"), folder.join("page.html"));
    fs::write(&json, serde_json::to_string(&sample::report()).unwrap()).unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_ybench")).arg("report").arg(&json).arg("--html").arg(&html).output();
    assert!(made.is_ok_and(|made| made.status.success()));
    html
}

/// The findings, and the browser's console output.
fn opened(page: &Path, width: u32, arguments: &[&str]) -> (Value, Vec<String>) {
    let around = page.with_file_name("around.html");
    let text =
        AROUND.replace("PAGE", &page.file_name().unwrap().to_string_lossy()).replace("WIDTH", &width.to_string());
    fs::write(&around, text).unwrap();
    let output = Command::new(browser())
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-extensions"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=10000", "--dump-dom"])
        .arg("--window-size=1400,900")
        .arg(format!("--user-data-dir={}", page.with_file_name("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", around.display()))
        .output()
        .expect("the browser can be started");
    let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found = dom.split_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) = found.unwrap_or_else(|| panic!("the page did not load: {log}"));
    let found = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let console = log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    (serde_json::from_str(&found).expect("the findings are JSON"), console)
}

#[test]
#[ignore = "needs a browser; ci/steps/page runs it"]
fn a_browser_has_nothing_to_complain_about() {
    let folder = folder();
    let html = page(&folder);
    let probed = folder.join("probed.html");
    fs::write(&probed, fs::read_to_string(&html).unwrap().replace("</body>", PROBE)).unwrap();
    for (width, dark) in [(1_280, false), (390, false), (390, true)] {
        let scheme = ["--blink-settings=preferredColorScheme=0"];
        let (found, console) = opened(&probed, width, if dark { &scheme } else { &[] });
        let none = serde_json::json!([]);
        assert_eq!(console, Vec::<String>::new());
        assert_eq!(found["window"], width, "{found}");
        assert!(found["pictures"].as_u64().unwrap() > 40, "{found}");
        for list in ["requests", "nameless", "empty", "wide"] {
            assert_eq!(found[list], none, "{width}: {list}");
        }
        assert_eq!(found["body"], found["window"]);
        assert_ne!(found["told"], "", "the arrow keys lead to a value");
        assert_eq!(
            (&found["dark"], found["background"] == "rgb(255, 255, 255)"),
            (&Value::Bool(dark), !dark),
            "{found}"
        );
    }
}

/// The test above can fail: a page that makes a request, or is too wide, is noticed.
#[test]
#[ignore = "needs a browser; ci/steps/page runs it"]
fn a_bad_page_is_noticed() {
    let folder = folder();
    let bad = "<div style=\"width:5000px\">x</div><svg></svg><img src=\"https://127.0.0.1/x.png\"></body>";
    let html = fs::read_to_string(page(&folder)).unwrap().replace("</body>", bad).replace("</body>", PROBE);
    let path = folder.join("bad.html");
    fs::write(&path, html).unwrap();
    let (found, console) = opened(&path, 390, &[]);
    assert!(console.iter().any(|line| line.contains("Content Security Policy")), "{console:?}");
    assert_eq!(found["nameless"].as_array().unwrap().len(), 1);
    assert!(!found["wide"].as_array().unwrap().is_empty());
}
