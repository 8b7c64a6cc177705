//! Intervals of figures whose distribution is known.

use super::*;

/// Figures like those of rounds: most within a few percent of the median, a few far above it.
fn figures(dice: &mut fastrand::Rng, median: f64, rounds: usize) -> Vec<f64> {
    let figure = |_| {
        let slow = if dice.f64() < 0.1 { 1.0 + dice.f64() } else { 1.0 };
        // The sum of six is close to normal. The slow ones are above the median and replace earlier ones.
        let noise: f64 = (0..6).map(|_| dice.f64() - 0.5).sum::<f64>() * 0.05;
        median * (1.0 + noise.abs() * (slow - 1.0) + noise)
    };
    (0..rounds).map(figure).collect()
}

fn covered(rounds: usize) -> usize {
    let mut dice = fastrand::Rng::with_seed(7);
    let holds = |_: &usize| {
        let interval = Interval::of(&figures(&mut dice, 3.0, rounds)).unwrap();
        interval.low <= 3.0 && 3.0 <= interval.high
    };
    (0..400).filter(holds).count()
}

#[test]
fn the_interval_holds_the_true_median_about_as_often_as_it_says() {
    for rounds in [5, 9, 20] {
        let covered = covered(rounds);
        // 95 % of 400 is 380. Few figures make it a little less, ties and even numbers a little more.
        assert!((360..=397).contains(&covered), "{covered} of 400 with {rounds} rounds");
    }
}

#[test]
fn more_rounds_make_it_tighter() {
    let mut dice = fastrand::Rng::with_seed(3);
    let mut width = |rounds| -> f64 {
        (0..50).map(|_| Interval::of(&figures(&mut dice, 1.0, rounds)).unwrap().half_width()).sum::<f64>() / 50.0
    };
    let (few, many) = (width(6), width(50));
    assert!(many < few / 2.0, "{few} {many}");
}

#[test]
fn the_same_figures_give_the_same_interval_to_the_last_bit() {
    let sample = figures(&mut fastrand::Rng::with_seed(1), 2.0, 12);
    let text = serde_json::to_string(&sample).unwrap();
    let read: Vec<f64> = serde_json::from_str(&text).unwrap();
    assert_eq!(Interval::of(&sample), Interval::of(&read));
    assert_eq!(Interval::of_quotient(&sample, &sample), Interval::of_quotient(&read, &read));
}

#[test]
fn every_figure_comes_back_from_json_to_the_last_bit() {
    let mut dice = fastrand::Rng::with_seed(11);
    for _ in 0..20_000 {
        let figure = dice.f64() * 10f64.powi(dice.i32(-3..9));
        let text = serde_json::to_string(&figure).unwrap();
        assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), figure.to_bits(), "{text}");
    }
}

#[test]
fn figures_that_are_all_the_same_have_an_interval_without_width() {
    let interval = Interval::of(&[2.0; 6]).unwrap();
    assert_eq!(interval, Interval { low: 2.0, median: 2.0, high: 2.0 });
    assert_eq!(interval.half_width(), 0.0);
    assert_eq!(Interval::of(&[]), None);
    assert_eq!(Interval::of_quotient(&[1.0], &[]), None);
}

#[test]
fn five_figures_give_their_range() {
    let interval = Interval::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
    assert_eq!(interval, Interval { low: 1.0, median: 3.0, high: 5.0 });
}

#[test]
fn the_rank_is_that_of_the_value_in_the_drawn_sample() {
    // Drawn: rank 0 once, rank 2 three times, rank 3 once.
    let drawn = [1, 0, 3, 1, 0];
    let ranks: Vec<usize> = (0..5).map(|at| rank(&drawn, at)).collect();
    assert_eq!(ranks, [0, 2, 2, 2, 3]);
}

#[test]
fn a_quotient_is_as_uncertain_as_both_its_parts() {
    let mut dice = fastrand::Rng::with_seed(5);
    let (new, old) = (figures(&mut dice, 3.0, 15), figures(&mut dice, 2.0, 15));
    let quotient = Interval::of_quotient(&new, &old).unwrap();
    assert!(quotient.low < 1.5 && 1.5 < quotient.high, "{quotient:?}");
    let parts = Interval::of(&new).unwrap().half_width() + Interval::of(&old).unwrap().half_width();
    assert!(quotient.half_width() < parts && quotient.half_width() > parts / 2.0, "{quotient:?}");
}
