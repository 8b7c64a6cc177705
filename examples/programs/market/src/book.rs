//! The book of one symbol: orders that rest, by price and then by age. Knows nothing of threads.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::protocol::Side;

/// The best prices, and that of the last trade; 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quote {
    pub bid: u32,
    pub ask: u32,
    pub last: u32,
}

/// The order that rested, and the one that met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trade {
    pub quantity: u32,
    pub price: u32,
    pub maker: u64,
    pub taker: u64,
}

#[derive(Default)]
pub struct Book {
    /// The quantities that are left, the best order first. Orders are numbered by age.
    bids: BTreeMap<(Reverse<u32>, u64), u32>,
    asks: BTreeMap<(u32, u64), u32>,
    last: u32,
}

impl Book {
    /// Matches an order with those that rest, and keeps what is left. Returns what is left.
    pub fn place(&mut self, id: u64, side: Side, quantity: u32, price: u32, trades: &mut Vec<Trade>) -> u32 {
        let before = trades.len();
        let left = match side {
            Side::Buy => matched(&mut self.asks, quantity, |ask| (ask <= price).then_some(ask), id, trades),
            Side::Sell => matched(&mut self.bids, quantity, |Reverse(bid)| (bid >= price).then_some(bid), id, trades),
        };
        if let Some(trade) = trades[before..].last() {
            self.last = trade.price;
        }
        if left > 0 {
            match side {
                Side::Buy => self.bids.insert((Reverse(price), id), left),
                Side::Sell => self.asks.insert((price, id), left),
            };
        }
        left
    }

    /// False: it does not rest.
    pub fn cancel(&mut self, id: u64, side: Side, price: u32) -> bool {
        match side {
            Side::Buy => self.bids.remove(&(Reverse(price), id)).is_some(),
            Side::Sell => self.asks.remove(&(price, id)).is_some(),
        }
    }

    pub fn rests(&self, id: u64, side: Side, price: u32) -> bool {
        match side {
            Side::Buy => self.bids.contains_key(&(Reverse(price), id)),
            Side::Sell => self.asks.contains_key(&(price, id)),
        }
    }

    pub fn quote(&self) -> Quote {
        Quote {
            bid: self.bids.first_key_value().map_or(0, |((Reverse(bid), _), _)| *bid),
            ask: self.asks.first_key_value().map_or(0, |((ask, _), _)| *ask),
            last: self.last,
        }
    }
}

/// Takes up to `quantity` from the orders at whose rank `acceptable` gives a price. Returns what is left.
fn matched<R: Ord + Copy>(
    resting: &mut BTreeMap<(R, u64), u32>,
    quantity: u32,
    acceptable: impl Fn(R) -> Option<u32>,
    taker: u64,
    trades: &mut Vec<Trade>,
) -> u32 {
    let mut left = quantity;
    while left > 0 {
        let Some(mut best) = resting.first_entry() else { break };
        let (rank, maker) = *best.key();
        let Some(price) = acceptable(rank) else { break };
        let quantity = left.min(*best.get());
        left -= quantity;
        *best.get_mut() -= quantity;
        if *best.get() == 0 {
            best.remove();
        }
        trades.push(Trade { quantity, price, maker, taker });
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_price_is_first_and_then_the_oldest() {
        let (mut book, mut trades) = (Book::default(), Vec::new());
        for (id, price) in [(1, 101), (2, 100), (3, 100)] {
            assert_eq!(book.place(id, Side::Sell, 5, price, &mut trades), 5);
        }
        assert_eq!(book.quote(), Quote { bid: 0, ask: 100, last: 0 });
        assert_eq!(book.place(4, Side::Buy, 12, 100, &mut trades), 2, "101 is too dear");
        let trade = |maker, quantity| Trade { quantity, price: 100, maker, taker: 4 };
        assert_eq!(trades, [trade(2, 5), trade(3, 5)]);
        assert_eq!(book.quote(), Quote { bid: 100, ask: 101, last: 100 });
        assert!(book.rests(4, Side::Buy, 100) && book.cancel(4, Side::Buy, 100) && !book.cancel(4, Side::Buy, 100));
        assert_eq!(book.place(5, Side::Sell, 1, 99, &mut trades), 1, "no bid is left");
    }
}
