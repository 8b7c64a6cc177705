//! What the process that measures and a side tell each other: packets of a seqpacket socket, which is the standard input
//! of the side.
//!
//! ```text
//!   --> job, with the descriptors of its handles      <-- ready
//!   --> go TIME                                       <-- done ..., and its times     or     <-- fault ...
//!   --> bye
//! ```
//!
//! A socket that is closed is the end of the process at its other side.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use crate::error::Fault;
use crate::transport::process::Side;

/// What a side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Pours,
    Drains,
    Asks,
    Answers,
    /// Sends now and then.
    Wakes,
    /// Receives those, and notes the time of each.
    IsWoken,
}

const ROLES: [(Role, &str); 6] = [
    (Role::Pours, "pours"),
    (Role::Drains, "drains"),
    (Role::Asks, "asks"),
    (Role::Answers, "answers"),
    (Role::Wakes, "wakes"),
    (Role::IsWoken, "is-woken"),
];

impl Role {
    /// The process in a sentence.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Pours | Self::Wakes => "the sending process",
            Self::Drains | Self::IsWoken => "the receiving process",
            Self::Asks => "the process that sends first",
            Self::Answers => "the process that answers",
        }
    }
}

/// The work of one side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) transport: String,
    pub(super) role: Role,
    /// Of the message, in the list of sizes.
    pub(super) size: usize,
    pub(super) messages: usize,
    pub(super) cpu: usize,
    pub(super) silence: Duration,
    /// The process that measures.
    pub(super) parent: u32,
}

/// The most bytes in a packet: below the send buffer of any machine.
const MOST: usize = 16 << 10;
/// The most descriptors of a side.
const DESCRIPTORS: usize = 8;

pub(super) fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<()> {
    with_descriptors(socket.as_fd(), bytes, &[])
}

fn with_descriptors(socket: BorrowedFd<'_>, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("a side has too many descriptors"));
    }
    rustix::io::retry_on_intr(|| sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL))?;
    Ok(())
}

/// The next packet; an empty one when the other process has ended.
pub(super) fn receive(socket: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MOST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let came = rustix::io::retry_on_intr(|| {
        recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    bytes.truncate(came.bytes);
    let rights = ancillary.drain().filter_map(|one| match one {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok((bytes, rights.flatten().collect()))
}

/// The next packet as words.
pub(super) fn words(socket: impl AsFd) -> io::Result<Vec<String>> {
    let (bytes, _) = receive(socket)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

pub(super) fn send_job(socket: impl AsFd, job: &Job, sides: &[Side]) -> io::Result<()> {
    let role = ROLES.iter().find(|role| role.0 == job.role).map_or("", |role| role.1);
    let Job { transport, size, messages, cpu, parent, .. } = job;
    let mut text = format!("{transport} {role} {size} {messages} {cpu} {} {parent}", job.silence.as_nanos());
    for side in sides {
        let word = if side.word.is_empty() { "-" } else { &side.word };
        text.push_str(&format!(" {word} {}", side.descriptors.len()));
    }
    let descriptors: Vec<_> = sides.iter().flat_map(|side| &side.descriptors).map(AsFd::as_fd).collect();
    with_descriptors(socket.as_fd(), text.as_bytes(), &descriptors)
}

/// The job, and a side of one channel or of two.
pub(super) fn receive_job(socket: impl AsFd) -> io::Result<(Job, Vec<Side>)> {
    let (bytes, descriptors) = receive(socket)?;
    let text = String::from_utf8_lossy(&bytes);
    parsed(&text.split_whitespace().collect::<Vec<_>>(), descriptors)
        .ok_or_else(|| io::Error::other(format!("'{text}' is no job of a process")))
}

fn parsed(words: &[&str], descriptors: Vec<OwnedFd>) -> Option<(Job, Vec<Side>)> {
    let (&[transport, role, size, messages, cpu, silence, parent], rest) = words.split_first_chunk::<7>()?;
    let job = Job {
        transport: transport.to_owned(),
        role: ROLES.iter().find(|known| known.1 == role)?.0,
        size: size.parse().ok()?,
        messages: messages.parse().ok()?,
        cpu: cpu.parse().ok()?,
        silence: Duration::from_nanos(silence.parse().ok()?),
        parent: parent.parse().ok()?,
    };
    let mut left = descriptors.into_iter();
    let mut sides = Vec::new();
    for side in rest.chunks(2) {
        let count: usize = side.get(1)?.parse().ok()?;
        let word = if side[0] == "-" { String::new() } else { side[0].to_owned() };
        sides.push(Side { descriptors: left.by_ref().take(count).collect(), word });
        if sides.last()?.descriptors.len() != count {
            return None;
        }
    }
    Some((job, sides))
}

/// What a side reports at its end. Times are nanoseconds of the system's monotonic clock.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Report {
    pub(super) times: Vec<u64>,
    pub(super) cpu: Duration,
    pub(super) switches: Option<u64>,
}

impl Report {
    fn missing() -> Fault {
        Fault::System(io::Error::other("a process has reported fewer times than its messages"))
    }

    /// Between its two times.
    pub(super) fn between(&self) -> Result<Duration, Fault> {
        let &[start, end] = &self.times[..] else { return Err(Self::missing()) };
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }

    /// From the other's time to its own.
    pub(super) fn since(&self, other: &Self) -> Result<Duration, Fault> {
        let (&[start], &[end]) = (&other.times[..], &self.times[..]) else { return Err(Self::missing()) };
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }

    /// The same for each message.
    pub(super) fn each_since(&self, other: &Self, messages: usize) -> Result<Vec<f64>, Fault> {
        if self.times.len() != messages || other.times.len() != messages {
            return Err(Self::missing());
        }
        Ok(other.times.iter().zip(&self.times).map(|(start, end)| end.saturating_sub(*start) as f64).collect())
    }
}

pub(super) fn send_report(socket: impl AsFd, report: &Report) -> io::Result<()> {
    let switches = report.switches.map_or("-".to_owned(), |count| count.to_string());
    send(&socket, format!("done {} {} {switches}", report.times.len(), report.cpu.as_nanos()).as_bytes())?;
    for times in report.times.chunks(MOST / size_of::<u64>()) {
        send(&socket, bytemuck::cast_slice(times))?;
    }
    Ok(())
}

pub(super) fn send_fault(socket: impl AsFd, fault: &Fault) -> io::Result<()> {
    let text = match fault {
        Fault::OutOfOrder { expected, received } => format!("fault out-of-order {expected} {received}"),
        Fault::Lost { expected } => format!("fault lost {expected}"),
        Fault::TooMany { received } => format!("fault too-many {received}"),
        Fault::Disconnected { expected } => format!("fault disconnected {expected}"),
        Fault::System(cause) => format!("fault system {cause}"),
        other => format!("fault system {other}"),
    };
    send(socket, &text.as_bytes()[..text.len().min(MOST)])
}

/// The report behind a first packet that has these words; or the fault.
pub(super) fn receive_report(socket: impl AsFd, words: &[String]) -> Result<Report, Fault> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let unknown = || Fault::System(io::Error::other(format!("a process said '{}'", words.join(" "))));
    let number = |text: &str| text.parse::<u64>().map_err(|_| unknown());
    match words[..] {
        ["done", times, cpu, switches] => {
            let (count, cpu) = (number(times)? as usize, Duration::from_nanos(number(cpu)?));
            let mut times = Vec::new();
            while times.len() < count {
                let (bytes, _) = receive(&socket)?;
                if bytes.is_empty() || bytes.len() % size_of::<u64>() != 0 {
                    return Err(Report::missing());
                }
                times.extend(bytes.chunks_exact(size_of::<u64>()).map(bytemuck::pod_read_unaligned::<u64>));
            }
            Ok(Report { times, cpu, switches: switches.parse().ok() })
        }
        ["fault", "out-of-order", expected, received] => {
            Err(Fault::OutOfOrder { expected: number(expected)? as usize, received: number(received)? as usize })
        }
        ["fault", "lost", expected] => Err(Fault::Lost { expected: number(expected)? as usize }),
        ["fault", "too-many", received] => Err(Fault::TooMany { received: number(received)? as usize }),
        ["fault", "disconnected", expected] => Err(Fault::Disconnected { expected: number(expected)? as usize }),
        ["fault", "system", ..] => Err(Fault::System(io::Error::other(words[2..].join(" ")))),
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    fn job() -> Job {
        let silence = Duration::from_millis(3);
        Job { transport: "a".into(), role: Role::IsWoken, size: 4, messages: 9, cpu: 1, silence, parent: 77 }
    }

    #[test]
    fn a_job_arrives_with_its_descriptors() {
        let ((near, far), (reading, writing)) = (pair(), pair());
        let sides = [Side { word: "4096".into(), ..reading.into() }, Side::from(writing), Side::default()];
        send_job(&near, &job(), &sides).unwrap();
        let (received, mut sides) = receive_job(&far).unwrap();
        assert_eq!((received, sides.len()), (job(), 3));
        assert!(sides.pop().unwrap().descriptor().is_err());
        let writing = sides.pop().unwrap().descriptor().unwrap();
        assert_eq!(sides[0].number().unwrap(), 4_096);
        send(writing, b"seen").unwrap();
        assert_eq!(words(sides.pop().unwrap().descriptor().unwrap()).unwrap(), ["seen"]);
    }

    #[test]
    fn what_is_no_job_is_refused() {
        for text in ["", "a pours", "a runs 0 1 2 3 4", "a pours 0 1 2 3 4 word", "a pours 0 1 2 3 4 word 1"] {
            let (near, far) = pair();
            send(&near, text.as_bytes()).unwrap();
            assert!(receive_job(&far).unwrap_err().to_string().contains("no job"), "{text}");
        }
    }

    fn reported(report: &Report) -> Report {
        let (near, far) = pair();
        std::thread::scope(|scope| {
            scope.spawn(|| send_report(&near, report).unwrap());
            let first = words(&far).unwrap();
            receive_report(&far, &first).unwrap()
        })
    }

    #[test]
    fn a_report_arrives_whole_however_long_it_is() {
        let report = Report { times: vec![3, 9], cpu: Duration::from_micros(4), switches: Some(5) };
        assert_eq!(reported(&report), report);
        let long = Report { times: (0..100_000).collect(), ..Report::default() };
        assert_eq!(reported(&long), long);
    }

    #[test]
    fn a_fault_arrives_as_it_was() {
        let faults = [
            Fault::OutOfOrder { expected: 1, received: 2 },
            Fault::Lost { expected: 3 },
            Fault::TooMany { received: 4 },
            Fault::Disconnected { expected: 5 },
            Fault::System(io::Error::other("no room for it")),
        ];
        for fault in faults {
            let (near, far) = pair();
            send_fault(&near, &fault).unwrap();
            let first = words(&far).unwrap();
            assert_eq!(receive_report(&far, &first).unwrap_err().to_string(), fault.to_string());
        }
    }

    #[test]
    fn times_that_are_missing_are_a_fault() {
        let (one, two) =
            (Report { times: vec![4], ..Report::default() }, Report { times: vec![1, 9], ..Report::default() });
        assert_eq!(two.between().unwrap().as_nanos(), 8);
        assert!(one.between().is_err() && one.since(&two).is_err() && two.each_since(&one, 2).is_err());
        assert_eq!(two.each_since(&two, 2).unwrap(), [0.0, 0.0]);
        assert!(two.each_since(&two, 3).is_err());
    }
}
