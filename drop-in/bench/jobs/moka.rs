//! Four threads read and write a cache that holds a tenth of the keys. It records each access in a channel.

use std::thread;

fn main() {
    let cache = moka::sync::Cache::new(10_000);
    thread::scope(|scope| {
        for thread in 1..=4_u64 {
            let cache = &cache;
            scope.spawn(move || {
                let mut random = thread;
                for _ in 0..400_000 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let key = (random >> 33) % 100_000;
                    if cache.get(&key).is_none() {
                        cache.insert(key, random);
                    }
                }
            });
        }
    });
    cache.run_pending_tasks();
    assert!(cache.entry_count() <= 10_000);
}
