//! A round: the processes of one channel, and what is done to them.

use core::fmt;
use std::thread;
use std::time::{Duration, Instant};

use crate::board::{Board, Ending, JOBS, Line, MEMBERS, Phase, Random, Wish, Word};
use crate::parts::{Part, is_patient};
use crate::process::{Child, forbid};
use crate::{Flow, Kind, remains};

/// The longest time for which a step may take, on the slowest machine.
const GUARD: Duration = Duration::from_secs(300);
/// Members at one time.
const MOST: usize = 7;

/// What has become of the home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Lives,
    Killed,
    /// It was told to leave.
    Left,
    /// As above, when all members had gone.
    LeftAlone,
}

/// A process of the round.
struct Actor {
    line: Line,
    child: Child,
    /// It is stopped until then.
    stopped: Option<Instant>,
    was_told: bool,
}

impl Actor {
    fn signal(&self, signal: libc::c_int) {
        // SAFETY: signals a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id(), signal) }, 0);
    }

    fn go_on(&mut self) {
        if self.stopped.take().is_some() {
            self.signal(libc::SIGCONT);
        }
    }

    /// Its descriptors, and the memory of channels that it has mapped.
    fn holds(&self) -> (usize, usize) {
        let own = format!("/proc/{}", self.child.id());
        let maps = std::fs::read_to_string(format!("{own}/maps")).unwrap();
        let descriptors = std::fs::read_dir(format!("{own}/fd")).unwrap().count();
        (descriptors, maps.lines().filter(|line| line.contains("ysuite-shm")).count())
    }
}

/// What is known of a member, dead or alive.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) line: Line,
    pub(crate) was_killed: bool,
    pub(crate) was_told: bool,
}

pub(crate) struct Round {
    kind: &'static Kind,
    name: String,
    is_careful: bool,
    pub(crate) board: Board,
    pub(crate) fate: Fate,
    home: Option<Actor>,
    members: Vec<Actor>,
    pub(crate) known: Vec<Known>,
    account: Account,
}

/// One round, whose figures are added to the account.
pub(crate) fn play(kind: &'static Kind, path: &str, random: &mut Random, account: &mut Account) {
    let (begun, before) = (Instant::now(), remains::count());
    let name =
        if random.once_in(2) { path.to_owned() } else { format!("kills-{}-{}", std::process::id(), account.rounds) };
    let mut round = Round {
        kind,
        name,
        is_careful: random.once_in(3),
        board: Board::new(),
        fate: Fate::Lives,
        home: None,
        members: Vec::new(),
        known: Vec::new(),
        account: Account { rounds: 1, ..Account::default() },
    };
    round.run(random);
    assert!(round.members.is_empty() && round.home.is_none());
    round.known.iter().for_each(|known| round.end_fits(*known));
    (kind.account)(&round);
    round.account.messages = round.known.iter().map(|known| round.board.get(known.line, Word::Moves)).sum();
    round.account.time = begun.elapsed();
    *account = [&*account, &round.account].into_iter().sum();
    drop(round);
    remains::assert_same(&before, kind.name);
}

impl Round {
    fn run(&mut self, random: &mut Random) {
        self.home = Some(self.start(Line::HOME, random));
        self.until("the home is ready", |round| round.phase() == Phase::Ready as u64);
        let held = self.home.as_ref().map(Actor::holds);
        for _ in 0..20 + random.below(130) {
            self.tick(random);
        }
        match random.below(4) {
            0 => self.end_calmly(held, random),
            1 => {
                self.all_move_on(random);
                self.home_leaves(Fate::Left);
            }
            _ => self.home_dies(random),
        }
        self.until("all members have ended", |round| round.members.iter().all(|member| member.child.has_ended()));
        self.reap();
    }

    fn phase(&self) -> u64 {
        self.board.get(Line::HOME, Word::Noticed)
    }

    fn start(&self, line: Line, random: &mut Random) -> Actor {
        let (seed, is_refused) = (random.below(u64::MAX), random.once_in(8));
        let Self { kind, board, name, is_careful, .. } = self;
        let part = Part { board, name, line, seed, is_careful: *is_careful };
        let child = Child::run(|| {
            if is_refused {
                forbid(libc::SYS_membarrier, libc::EPERM);
            }
            let end = if line == Line::HOME {
                (kind.home)(&part);
                Ending::Left as u64
            } else {
                part.connect().map_or(Ending::Left as u64, |socket| (kind.member)(&part, socket))
            };
            board.set(line, Word::End, end);
        });
        Actor { line, child, stopped: None, was_told: false }
    }

    fn hire(&mut self, random: &mut Random) {
        if self.known.len() == MEMBERS || self.members.len() == MOST {
            return;
        }
        let line = Line::member(self.known.len() + 1);
        self.known.push(Known { line, was_killed: false, was_told: false });
        self.members.push(self.start(line, random));
        self.account.hired += 1;
    }

    /// Something happens to somebody.
    fn tick(&mut self, random: &mut Random) {
        thread::sleep(Duration::from_micros(random.below(3_000)));
        self.go_on(false);
        self.reap();
        if self.members.len() < 2 {
            self.hire(random);
        }
        match random.below(16) {
            0..=3 => self.kill_one(random),
            4..=6 => self.stop_one(random),
            7 | 8 => self.tell_one(random),
            9..=11 => self.hire(random),
            12 => self.all_move_on(random),
            _ => {}
        }
    }

    /// Those go on whose stop is over, or all.
    fn go_on(&mut self, all: bool) {
        let now = Instant::now();
        for actor in self.members.iter_mut().chain(&mut self.home) {
            if all || actor.stopped.is_some_and(|until| until <= now) {
                actor.go_on();
            }
        }
    }

    fn kill_one(&mut self, random: &mut Random) {
        if !self.members.is_empty() {
            let member = self.members.swap_remove(random.below(self.members.len() as u64) as usize);
            // It may have ended by itself.
            self.known[member.line.number() as usize - 1].was_killed = true;
            member.child.kill();
            self.account.kills += 1;
        }
    }

    /// A member, or the home.
    fn stop_one(&mut self, random: &mut Random) {
        let at = random.below(self.members.len() as u64 + 1) as usize;
        if let Some(actor) = self.members.iter_mut().chain(&mut self.home).nth(at) {
            if actor.stopped.is_none() {
                actor.signal(libc::SIGSTOP);
                actor.stopped = Some(Instant::now() + Duration::from_micros(random.below(40_000)));
                self.account.stops += 1;
            }
        }
    }

    fn tell_one(&mut self, random: &mut Random) {
        let at = random.below(self.members.len() as u64 + 1) as usize;
        let Some(member) = self.members.get_mut(at) else { return };
        if !is_patient(member.line) && !member.was_told {
            member.was_told = true;
            self.known[member.line.number() as usize - 1].was_told = true;
            self.board.set(member.line, Word::Wish, Wish::Leave as u64);
            self.account.told += 1;
        }
    }

    /// Everybody that has something to do does more of it: no wake-up was lost.
    fn all_move_on(&mut self, random: &mut Random) {
        self.go_on(true);
        if self.members.iter().all(|member| member.was_told || member.child.has_ended()) {
            self.reap();
            self.hire(random);
        }
        let lines: Vec<Line> = match self.kind.flow {
            // The others wait for their turn.
            Flow::InTurns => vec![Line::HOME],
            _ => {
                let members = self.members.iter().filter(|member| !member.was_told).map(|member| member.line);
                members.chain([Line::HOME]).collect()
            }
        };
        let moves = |round: &Self| lines.iter().map(|line| round.board.get(*line, Word::Moves)).collect::<Vec<_>>();
        let before = moves(self);
        self.until("all move on", |round| {
            // There are no more jobs than have a place on the board.
            let is_full = round.board.get(Line::HOME, Word::Sent) == JOBS as u64;
            is_full || before.iter().zip(moves(round)).all(|(before, after)| *before < after)
        });
        self.account.checks += 1;
    }

    /// Takes away members that have ended by themselves.
    fn reap(&mut self) {
        let (ended, others) = self.members.drain(..).partition(|member| member.child.has_ended());
        self.members = others;
        ended.into_iter().for_each(|member: Actor| member.child.join());
    }

    /// The home is killed, alone or with a member, whether it is stopped or not.
    fn home_dies(&mut self, random: &mut Random) {
        self.fate = Fate::Killed;
        if random.once_in(2) {
            self.kill_one(random);
        }
        self.home.take().into_iter().for_each(|home| home.child.kill());
        self.account.kills += 1;
        self.board.set(Line::HOME, Word::End, Ending::Died as u64);
        self.go_on(true);
    }

    fn home_leaves(&mut self, fate: Fate) {
        self.fate = fate;
        self.go_on(true);
        self.board.set(Line::HOME, Word::Wish, Wish::Leave as u64);
        self.until("the home leaves", |round| round.home.iter().all(|home| home.child.has_ended()));
        self.home.take().into_iter().for_each(|home| home.child.join());
    }

    /// The home sends no more, those that are left have all, all members go, and the home has what it had at first.
    fn end_calmly(&mut self, held: Option<(usize, usize)>, random: &mut Random) {
        self.all_move_on(random);
        self.board.set(Line::HOME, Word::Wish, Wish::Calm as u64);
        if self.kind.flow == Flow::ToMembers {
            self.until("the home has done all", |round| round.phase() == Phase::Quiet as u64);
            self.until("those that are left have all", Self::have_all);
        }
        while let Some(member) = self.members.iter_mut().find(|member| !member.was_told) {
            if is_patient(member.line) || random.once_in(2) {
                self.kill_one(random);
            } else {
                self.tell_one(random);
            }
        }
        self.until("all members have ended", |round| round.members.iter().all(|member| member.child.has_ended()));
        self.reap();
        self.board.set(Line::HOME, Word::Wish, Wish::Alone as u64);
        self.until("the home is alone", |round| round.phase() == Phase::Alone as u64);
        self.until("the home has given back what it held", |round| round.home.as_ref().map(Actor::holds) == held);
        self.home_leaves(Fate::LeftAlone);
    }

    /// A worker has what it was given, and that is seen by the home.
    fn have_all(&self) -> bool {
        let sent = self.board.get(Line::HOME, Word::Sent);
        let mut there = self.members.iter().filter(|member| self.board.get(member.line, Word::First) != 0);
        there.all(|member| {
            member.was_told || member.child.has_ended() || self.board.get(member.line, Word::Received) == sent
        })
    }

    /// Whether a member has ended as it should, after what was done to it and to the home.
    fn end_fits(&self, known: Known) {
        let end = self.board.get(known.line, Word::End);
        let nothing = self.board.get(known.line, Word::Received) == 0;
        let fits = match end {
            0 => known.was_killed,
            end if end == Ending::Left as u64 => known.was_told || self.fate != Fate::LeftAlone,
            end if end == Ending::Closed as u64 => self.fate == Fate::Left,
            // Whom the home has not accepted finds that it has gone.
            end if end == Ending::Died as u64 => self.fate == Fate::Killed || self.fate == Fate::Left && nothing,
            // It took longer than a second to say hello.
            _ => nothing,
        };
        assert!(fits, "{:?} has ended by {end}, its home: {:?}", known.line, self.fate);
    }

    /// Waits for something.
    fn until(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > GUARD
                || self.home.as_ref().is_some_and(|home| self.fate == Fate::Lives && home.child.has_ended())
            {
                self.stands_still(what);
            }
            thread::sleep(Duration::from_micros(200));
        }
    }

    fn stands_still(&self, what: &str) -> ! {
        println!("{}: not so: {what}", self.kind.name);
        for actor in self.home.iter().chain(&self.members) {
            let words = (0..8).map(|word| self.board.get_at(actor.line, word)).collect::<Vec<_>>();
            println!("{:?}, told: {}, stopped: {}: {words:?}", actor.line, actor.was_told, actor.stopped.is_some());
            for file in ["wchan", "syscall", "stat"] {
                let said = std::fs::read_to_string(format!("/proc/{}/{file}", actor.child.id())).unwrap_or_default();
                println!("    {file}: {}", said.trim());
            }
        }
        panic!("something was lost, or a process has failed");
    }
}

/// What was done.
#[derive(Clone, Copy, Default)]
pub(crate) struct Account {
    pub(crate) rounds: u64,
    pub(crate) time: Duration,
    messages: u64,
    kills: u64,
    stops: u64,
    hired: u64,
    told: u64,
    checks: u64,
}

impl<'a> core::iter::Sum<&'a Self> for Account {
    fn sum<I: Iterator<Item = &'a Self>>(accounts: I) -> Self {
        accounts.fold(Self::default(), |sum, each| Self {
            rounds: sum.rounds + each.rounds,
            time: sum.time + each.time,
            messages: sum.messages + each.messages,
            kills: sum.kills + each.kills,
            stops: sum.stops + each.stops,
            hired: sum.hired + each.hired,
            told: sum.told + each.told,
            checks: sum.checks + each.checks,
        })
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, time, messages, kills, stops, hired, told, checks } = self;
        write!(
            f,
            "{rounds} rounds in {} s, {messages} messages, {kills} killed, {stops} stopped and continued, ",
            time.as_secs()
        )?;
        write!(f, "{hired} came, {told} told to leave; {checks} times all moved on")
    }
}
