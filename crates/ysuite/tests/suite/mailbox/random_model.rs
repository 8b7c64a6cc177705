//! What mailboxes do, written as simply as can be: one thread, some queues.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ysuite::mailbox::{Crowding, URGENT_TURN};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Small,
    Boxed,
    Huge,
    Aligned,
    Nothing,
    Echo,
    Bomb,
}

impl Kind {
    pub(super) const ALL: [Self; 7] =
        [Self::Small, Self::Boxed, Self::Huge, Self::Aligned, Self::Nothing, Self::Echo, Self::Bomb];
}

/// What may be in a mailbox.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    /// Its number, and the mailbox that it was sent to first.
    Message(Kind, usize, u64),
    End {
        owner: bool,
        of: u64,
    },
}

/// What a receive says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Message(Kind, usize),
    End { owner: bool, of: u64, handled: bool },
    Timeout,
    Disconnected,
    Mismatch,
}

#[derive(Default)]
struct Box {
    bound: Option<(usize, Crowding)>,
    owner: Option<u64>,
    /// Urgent and ordinary ones, checked and new.
    aside: [VecDeque<Item>; 2],
    new: [VecDeque<Item>; 2],
    /// With a bound: notices, and one that waits for those before it.
    notices: VecDeque<Item>,
    held: Option<(Item, u64)>,
    put: u64,
    taken: u64,
    in_a_row: u32,
    /// Addresses in the test's hands.
    addresses: usize,
    /// The mailboxes that are notified of its end, as linked and as owned.
    watchers: BTreeMap<u64, [bool; 2]>,
    watched: BTreeSet<u64>,
}

const URGENT: usize = 0;
const ORDINARY: usize = 1;

impl Box {
    fn take_ordinary(&mut self) -> Option<Item> {
        if self.bound.is_none() {
            return self.new[ORDINARY].pop_front();
        }
        if self.held.is_none() {
            self.held = self.notices.pop_front().map(|notice| (notice, self.put));
        }
        match self.held {
            Some((notice, place)) if self.taken >= place => {
                self.held = None;
                Some(notice)
            }
            _ => {
                let item = self.new[ORDINARY].pop_front()?;
                self.taken += 1;
                Some(item)
            }
        }
    }

    /// A new one has come into the hands of a search.
    fn note(&mut self, item: &Item) {
        if let Item::End { owner, of } = item {
            self.watched.remove(of);
            if *owner {
                self.owner = None;
            }
        }
    }

    /// Searches those set aside. `Err`: an unhandled end.
    fn search_aside(&mut self, rank: usize, accept: &impl Fn(&Item) -> bool) -> Option<Result<Item, Item>> {
        let is_over = |item: &Item| accept(item) || matches!(item, Item::End { .. });
        let at = self.aside[rank].iter().position(is_over)?;
        let item = self.aside[rank].remove(at)?;
        Some(self.found(rank, item, accept))
    }

    fn found(&mut self, rank: usize, item: Item, accept: &impl Fn(&Item) -> bool) -> Result<Item, Item> {
        if !accept(&item) {
            return Err(item);
        }
        self.in_a_row = if rank == URGENT { self.in_a_row + 1 } else { 0 };
        Ok(item)
    }

    fn search_new(&mut self, rank: usize, accept: &impl Fn(&Item) -> bool) -> Option<Result<Item, Item>> {
        loop {
            let item = if rank == URGENT { self.new[URGENT].pop_front()? } else { self.take_ordinary()? };
            self.note(&item);
            if accept(&item) || matches!(item, Item::End { .. }) {
                return Some(self.found(rank, item, accept));
            }
            self.aside[rank].push_back(item);
        }
    }

    fn search(&mut self, accept: &impl Fn(&Item) -> bool) -> Option<Result<Item, Item>> {
        let turn = self.in_a_row >= URGENT_TURN;
        if turn {
            if let Some(found) = self.search_aside(ORDINARY, accept).or_else(|| self.search_new(ORDINARY, accept)) {
                return Some(found);
            }
        }
        let found = self.search_aside(URGENT, accept).or_else(|| self.search_new(URGENT, accept));
        found.or_else(|| self.search_aside(ORDINARY, accept)).or_else(|| self.search_new(ORDINARY, accept))
    }
}

pub(super) struct Model {
    boxes: BTreeMap<u64, Box>,
    pub(super) names: BTreeMap<String, u64>,
    /// How many messages hold the address of a mailbox.
    echoes: BTreeMap<u64, usize>,
    /// How far the number of a follower is from that of what it follows.
    most: usize,
    /// Where each echo sends to.
    targets: BTreeMap<usize, u64>,
}

impl Model {
    pub(super) fn new(most: usize) -> Self {
        Self { boxes: BTreeMap::new(), names: BTreeMap::new(), echoes: BTreeMap::new(), most, targets: BTreeMap::new() }
    }

    fn get(&mut self, id: u64) -> &mut Box {
        self.boxes.get_mut(&id).expect("a mailbox")
    }

    pub(super) fn begin(&mut self, id: u64, bound: Option<(usize, Crowding)>, owner: Option<u64>, linked: bool) {
        let mut new = Box { bound, owner, addresses: 1, ..Box::default() };
        if let Some(owner) = owner {
            self.get(owner).watchers.entry(id).or_default()[1] = true;
            new.watched.insert(owner);
        }
        self.boxes.insert(id, new);
        if let (Some(owner), true) = (owner, linked) {
            self.link(owner, id);
        }
    }

    /// A mailbox ends. Returns the numbers of the messages that are dropped with it.
    pub(super) fn end(&mut self, id: u64) -> Vec<usize> {
        let ended = self.boxes.remove(&id).expect("a mailbox");
        self.names.retain(|_, of| *of != id);
        for watched in &ended.watched {
            if let Some(watched) = self.boxes.get_mut(watched) {
                watched.watchers.remove(&id);
            }
        }
        for (watcher, [link, owner]) in ended.watchers.into_iter().filter(|(watcher, _)| *watcher != id) {
            for is_owner in [true, false] {
                if if is_owner { owner } else { link } {
                    self.notify(watcher, Item::End { owner: is_owner, of: id });
                }
            }
        }
        let mut gone = Vec::new();
        let held = ended.held.map(|(notice, _)| notice);
        for item in ended.aside.into_iter().chain(ended.new).flatten().chain(held).chain(ended.notices) {
            if let Item::Message(kind, number, _) = item {
                gone.extend((kind != Kind::Nothing).then_some(number));
                if kind == Kind::Echo {
                    self.forget_echo(number);
                    gone.push(number + self.most);
                }
            }
        }
        // A number without a size is not counted by number, but by its token, which was dropped when it was made.
        gone
    }

    fn notify(&mut self, watcher: u64, notice: Item) {
        let Some(watcher) = self.boxes.get_mut(&watcher) else { return };
        if watcher.bound.is_some() {
            watcher.notices.push_back(notice)
        } else {
            watcher.new[ORDINARY].push_back(notice)
        }
    }

    pub(super) fn is_alive(&self, id: u64) -> bool {
        self.boxes.contains_key(&id)
    }

    pub(super) fn len(&self, id: u64) -> usize {
        let all = |it: &Box| it.aside.iter().chain(&it.new).chain([&it.notices]).map(VecDeque::len).sum();
        self.boxes.get(&id).map_or(0, all)
    }

    pub(super) fn set_aside(&self, id: u64) -> usize {
        self.boxes[&id].aside.iter().map(VecDeque::len).sum()
    }

    pub(super) fn owner(&self, id: u64) -> Option<u64> {
        self.boxes[&id].owner
    }

    pub(super) fn hold(&mut self, id: u64, addresses: usize) {
        self.get(id).addresses = addresses;
    }

    /// `Err`: whether it was full, or had ended.
    pub(super) fn send(&mut self, id: u64, item: Item, urgent: bool) -> Result<(), bool> {
        if let Item::Message(Kind::Echo, number, to) = item {
            *self.echoes.entry(to).or_default() += 1;
            self.targets.insert(number, to);
        }
        let Some(to) = self.boxes.get_mut(&id) else {
            self.drop_item(item);
            return Err(false);
        };
        if urgent {
            to.new[URGENT].push_back(item);
            return Ok(());
        }
        if let Some((capacity, crowding)) = to.bound {
            if to.new[ORDINARY].len() == capacity {
                match crowding {
                    Crowding::Block | Crowding::Error => {
                        self.drop_item(item);
                        return Err(true);
                    }
                    Crowding::DropNewest => {
                        self.drop_item(item);
                        return Ok(());
                    }
                    Crowding::DropOldest => {
                        let oldest = to.new[ORDINARY].pop_front().expect("it is full");
                        to.taken += 1;
                        to.put += 1;
                        to.new[ORDINARY].push_back(item);
                        self.drop_item(oldest);
                        return Ok(());
                    }
                }
            }
        }
        to.put += 1;
        to.new[ORDINARY].push_back(item);
        Ok(())
    }

    fn drop_item(&mut self, item: Item) {
        if let Item::Message(kind, number, _) = item {
            self.drop_received(kind, number);
        }
    }

    /// The test drops a message.
    pub(super) fn drop_received(&mut self, kind: Kind, number: usize) {
        if kind == Kind::Echo {
            let to = self.targets[&number];
            let _ = self.send(to, Item::Message(Kind::Small, number + self.most, to), false);
            self.forget_echo(number);
        }
    }

    fn forget_echo(&mut self, number: usize) {
        let to = self.targets.remove(&number).expect("an echo");
        *self.echoes.get_mut(&to).expect("one that was counted") -= 1;
    }

    pub(super) fn link(&mut self, from: u64, to: u64) {
        match self.boxes.get_mut(&to) {
            Some(watched) => {
                watched.watchers.entry(from).or_default()[0] = true;
                self.get(from).watched.insert(to);
            }
            None => self.get(from).aside[ORDINARY].push_back(Item::End { owner: false, of: to }),
        }
    }

    pub(super) fn unlink(&mut self, from: u64, to: u64) {
        if let Some(watched) = self.boxes.get_mut(&to) {
            match watched.watchers.get_mut(&from) {
                Some(relations) if relations[1] => relations[0] = false,
                _ => drop(watched.watchers.remove(&from)),
            }
        }
        if self.get(from).owner != Some(to) {
            self.get(from).watched.remove(&to);
        }
    }

    /// Whether any thread could send something.
    fn is_open(&self, id: u64) -> bool {
        let it = &self.boxes[&id];
        it.addresses != 0
            || self.echoes.get(&id).is_some_and(|echoes| *echoes != 0)
            || self.names.values().any(|of| *of == id)
            || self.boxes.values().any(|other| other.watchers.contains_key(&id) || other.owner == Some(id))
    }

    fn nothing(&self, id: u64) -> Answer {
        if self.is_open(id) { Answer::Timeout } else { Answer::Disconnected }
    }

    pub(super) fn receive(&mut self, id: u64, accept: impl Fn(&Item) -> bool) -> Answer {
        match self.get(id).search(&accept) {
            None => self.nothing(id),
            Some(Ok(item)) => answer(item, true),
            Some(Err(item)) => answer(item, false),
        }
    }

    pub(super) fn receive_only(&mut self, id: u64, kind: Kind) -> Answer {
        let it = self.get(id);
        let in_a_row = it.in_a_row;
        // Whatever comes first.
        let is_it = |item: &Item| matches!(item, Item::Message(is, ..) if *is == kind);
        let aside = [it.aside[URGENT].len(), it.aside[ORDINARY].len()];
        match it.search(&|_| true) {
            None => self.nothing(id),
            Some(Ok(item)) if is_it(&item) => answer(item, true),
            Some(Ok(item) | Err(item)) => {
                let is_urgent = it.in_a_row == in_a_row + 1;
                it.in_a_row = in_a_row;
                if matches!(item, Item::End { .. }) {
                    return answer(item, false);
                }
                // It stays the first, or is the first that is set aside.
                let rank = if is_urgent { URGENT } else { ORDINARY };
                if it.aside[rank].len() == aside[rank] {
                    it.aside[rank].push_back(item);
                } else {
                    it.aside[rank].push_front(item);
                }
                Answer::Mismatch
            }
        }
    }
}

fn answer(item: Item, handled: bool) -> Answer {
    match item {
        Item::Message(kind, number, _) => Answer::Message(kind, number),
        Item::End { owner, of } => Answer::End { owner, of, handled },
    }
}
