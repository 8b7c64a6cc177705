//! The programs as they are run: a life of some thousand connections, a stop in its midst, and clients that are refused.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

fn market() -> Command {
    Command::new(env!("CARGO_BIN_EXE_market"))
}

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A server. Killed where the test fails.
struct Server {
    child: Child,
    lines: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    fn start(log: &Path, more: &[&str]) -> Self {
        let mut command = market();
        command.args(["serve", "--listen", "127.0.0.1:0", "--audit"]).arg(log).args(more).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening ").unwrap().to_owned();
        Self { child, lines, address }
    }

    fn connect(&self) -> BufReader<TcpStream> {
        BufReader::new(TcpStream::connect(&self.address).unwrap())
    }

    /// SIGTERM, and its figures at the end.
    fn stop(&mut self) -> BTreeMap<String, u64> {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(self.child.wait().unwrap().success());
        let figures = line.split_whitespace().filter_map(|word| word.split_once('='));
        figures.map(|(name, number)| (name.to_owned(), number.parse().unwrap())).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to a line.
fn ask(client: &mut BufReader<TcpStream>, line: &str) -> String {
    client.get_mut().write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_line(&mut answer).unwrap();
    answer
}

/// The numbers of the orders in a log, by reference.
fn orders(log: &Path) -> Vec<(u64, u64)> {
    let log = fs::read_to_string(log).unwrap();
    let words = log.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|words| words[0] == "order");
    words.map(|words| (words[2].parse().unwrap(), words[1].parse().unwrap())).collect()
}

#[test]
fn a_server_that_is_lived_with_does_not_grow() {
    let folder = folder("lived");
    let output =
        market().args(["lived", "--connections", "4000", "--at-once", "50", "--folder"]).arg(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((said.matches("passed ").count(), said.matches("FAILED").count()), (9, 0), "{said}");
    let table = fs::read_to_string(folder.join("lived.csv")).unwrap();
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().count() > 90 && table.lines().all(|line| line.split(',').count() == columns), "{table}");
    let drawing = fs::read_to_string(folder.join("lived.svg")).unwrap();
    assert!(drawing.starts_with("<svg") && drawing.ends_with("</svg>\n") && !drawing.contains("NaN"), "{drawing}");
    assert_eq!(drawing.matches("<polyline").count(), 9);
}

#[test]
fn a_stop_in_the_midst_loses_no_accepted_order() {
    let folder = folder("stopped");
    let (log, answers) = (folder.join("audit.log"), folder.join("answers"));
    let mut server = Server::start(&log, &[]);
    let mut load = market();
    load.args([
        "load",
        "--server",
        &server.address,
        "--connections",
        "100000000",
        "--at-once",
        "50",
        "--until-stop",
        "true",
    ]);
    let mut load = load.arg("--answers").arg(&answers).stdout(Stdio::null()).spawn().unwrap();
    while fs::metadata(&log).unwrap().len() < 100_000 {
        assert!(load.try_wait().unwrap().is_none(), "the load goes on");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let figures = server.stop();
    assert!(load.wait().unwrap().success());
    let audited = orders(&log);
    let numbers: HashSet<_> = audited.iter().map(|(_, number)| *number).collect();
    let references: HashSet<_> = audited.iter().map(|(reference, _)| *reference).collect();
    assert_eq!((numbers.len(), references.len()), (audited.len(), audited.len()), "each once");
    assert_eq!(figures["accepted"], audited.len() as u64);
    assert!((1..=figures["accepted"]).all(|number| numbers.contains(&number)));
    let audited: HashSet<_> = audited.into_iter().collect();
    let answers = fs::read_to_string(answers).unwrap();
    let answers = answers.lines().map(|line| line.split_once(' ').unwrap());
    let answers: Vec<(u64, u64)> =
        answers.map(|(reference, id)| (reference.parse().unwrap(), id.parse().unwrap())).collect();
    assert!(!answers.is_empty() && answers.iter().all(|answer| audited.contains(answer)));
}

#[test]
fn an_order_meets_another_and_all_who_listen_hear_of_it() {
    let folder = folder("told");
    let mut server = Server::start(&folder.join("audit.log"), &[]);
    let [mut ann, mut ben] = [server.connect(), server.connect()];
    assert_eq!(ask(&mut ann, "QUOTES\n"), "ERROR no login\n");
    assert_eq!(ask(&mut ann, "LOGIN ann\r\n"), "WELCOME ann\n");
    assert_eq!(ask(&mut ann, "STATS\n"), "ERROR for the operator only\n");
    assert_eq!(ask(&mut ben, "LOGIN ben\n"), "WELCOME ben\n");
    assert_eq!(ask(&mut ben, "SELL 7 ALFA 10 101\n"), "ACCEPTED 7 1 0 10\n");
    assert_eq!(ask(&mut ann, "QUOTES\n"), "SUBSCRIBED 4\n");
    let mut next = || {
        let mut line = String::new();
        ann.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(next(), "PRICE ALFA 0 101 0\n");
    (1..4).for_each(|_| assert!(next().ends_with(" 0 0 0\n")));
    assert_eq!(ask(&mut ben, "BUY 8 ALFA 4 105\n"), "ACCEPTED 8 2 4 0\n");
    assert_eq!((next().as_str(), next().as_str()), ("TRADE 2 ALFA 4 101 1 2\n", "QUOTE 3 ALFA 0 101 101\n"));
    assert_eq!(ask(&mut ben, "QUIT\n"), "BYE\n");
    assert_eq!(next(), "QUOTE 4 ALFA 0 0 101\n", "what rested has left with ben");
    let figures = server.stop();
    assert_eq!(next(), "BYE\n");
    assert_eq!((figures["accepted"], figures["audited"], figures["trades"], figures["errors"]), (2, 2, 1, 2));
}

#[test]
fn too_many_connections_and_too_long_lines_are_refused() {
    let folder = folder("refused");
    let mut server = Server::start(&folder.join("audit.log"), &["--most", "2"]);
    let mut clients = [server.connect(), server.connect()];
    clients.iter_mut().for_each(|client| assert_eq!(ask(client, "LOGIN ann\n"), "WELCOME ann\n"));
    let mut third = String::new();
    server.connect().read_to_string(&mut third).unwrap();
    assert_eq!(third, "ERROR there are too many connections\n");
    let [mut first, mut second] = clients;
    assert_eq!(ask(&mut first, &"x".repeat(121)), "ERROR a line has at most 120 bytes\n");
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
    for _ in 0..8 {
        assert_eq!(ask(&mut second, "\n"), "ERROR an empty line\n");
    }
    assert_eq!(second.read(&mut [0]).unwrap(), 0);
    assert_eq!(server.stop()["closed"], 2);
}

#[test]
fn a_client_that_reads_late_is_told_what_it_has_lost() {
    const ORDERS: u64 = 20_000;
    let folder = folder("late");
    let mut server = Server::start(&folder.join("audit.log"), &["--patience-ms", "600000"]);
    let [mut late, mut ben] = [server.connect(), server.connect()];
    assert_eq!(ask(&mut late, "LOGIN late\n"), "WELCOME late\n");
    assert_eq!(ask(&mut ben, "LOGIN ben\n"), "WELCOME ben\n");
    assert_eq!(ask(&mut late, "QUOTES\n"), "SUBSCRIBED 4\n");
    // A quote for the first of two, a trade and a quote for the second: more than all buffers on the way have room for.
    let orders: String = (0..ORDERS).map(|n| format!("{} {n} ALFA 1 100\n", ["SELL", "BUY"][n as usize % 2])).collect();
    let mut writer = ben.get_ref().try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(orders.as_bytes()).unwrap());
    for n in 0..ORDERS {
        assert!(ask(&mut ben, "").starts_with(&format!("ACCEPTED {n} {} ", n + 1)));
    }
    writing.join().unwrap();
    let (mut last, mut heard, mut lost) = (0, 0, 0);
    while last < ORDERS / 2 * 3 {
        let line = ask(&mut late, "");
        let (what, rest) = line.trim_end().split_once(' ').unwrap();
        let number = rest.split(' ').next().unwrap();
        match what {
            "PRICE" => {}
            "LOST" => lost += number.parse::<u64>().unwrap(),
            "QUOTE" | "TRADE" => {
                (last, heard) = (number.parse().unwrap(), heard + 1);
                assert_eq!(last, heard + lost, "nothing is missing that was not told");
            }
            _ => panic!("{line}"),
        }
    }
    assert!(lost > 0);
    assert_eq!(server.stop()["lost"], lost);
}
