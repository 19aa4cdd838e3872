//! One account for all the memory graphmill allocates.
//! Whatever grows with the data reserves here first and gives back by dropping; ingest and loaders
//! of one dataset share one [`Budget`]. It only counts: it must not know what the memory is for,
//! and it never allocates or frees any. What is only kept for later is registered here, and asked
//! for before a request is refused.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError, Weak};

use crate::error::{Error, Result};

/// A shared upper bound on anonymous memory. Clones draw on the same account.
///
/// ```
/// use graphmill_disk::Budget;
/// let budget = Budget::new(100);
/// let window = budget.reserve(60, "the window")?;
/// assert!(budget.reserve(50, "the hot rows").is_err());
/// drop(window);
/// assert_eq!((budget.used(), budget.peak()), (0, 60));
/// # Ok::<(), graphmill_disk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    account: Arc<Account>,
}

#[derive(Debug)]
struct Account {
    total: u64,
    used: AtomicU64,
    /// Of the used bytes, those that are memory already.
    in_use: AtomicU64,
    /// The most that were in use at once.
    peak: AtomicU64,
    /// Only ever tried, never waited for, because of forks.
    keepers: Mutex<Vec<Weak<dyn Keeper>>>,
}

/// Holds memory of a budget that it could do without, such as rows for an epoch that may never come.
pub trait Keeper: Send + Sync {
    /// Gives that memory back, unless it is in use by now. Must not wait for a lock: any call that needs memory may ask.
    fn give_up(&self);
}

impl Budget {
    /// A budget of `total` bytes.
    pub fn new(total: u64) -> Self {
        let account = Account {
            total,
            used: AtomicU64::new(0),
            in_use: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            keepers: Mutex::default(),
        };
        Self { account: Arc::new(account) }
    }

    /// A budget that only counts.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// All bytes of the budget.
    pub fn total(&self) -> u64 {
        self.account.total
    }

    /// Bytes reserved now.
    pub fn used(&self) -> u64 {
        self.account.used.load(Ordering::Relaxed)
    }

    /// Bytes nobody has reserved.
    pub fn free(&self) -> u64 {
        self.total() - self.used()
    }

    /// The most bytes that were ever in use at once: those reserved, but of pools only what was touched.
    pub fn peak(&self) -> u64 {
        self.account.peak.load(Ordering::Relaxed)
    }

    /// Takes `bytes` out of the budget until the reservation is dropped, or says why not.
    ///
    /// `what` names the purpose in the error: "the sort buffer", "a batch of 1024 seeds".
    pub fn reserve(&self, bytes: u64, what: &str) -> Result<Reservation> {
        self.take(bytes, what)?;
        self.use_more(bytes);
        Ok(Reservation { budget: self.clone(), bytes, what: what.to_owned(), touched: None })
    }

    /// Takes `bytes` for a pool that becomes memory as it is needed: the peak counts what
    /// [`touch`](Reservation::touch) says.
    pub fn reserve_pool(&self, bytes: u64, what: &str) -> Result<Reservation> {
        self.take(bytes, what)?;
        let touched = Some(AtomicU64::new(0));
        Ok(Reservation { budget: self.clone(), bytes, what: what.to_owned(), touched })
    }

    /// Registers somebody to be asked for memory when it runs short, once.
    pub fn register(&self, keeper: Weak<dyn Keeper>) {
        self.with_keepers(|keepers| {
            keepers.retain(|other| other.strong_count() > 0 && !other.ptr_eq(&keeper));
            keepers.push(keeper);
        });
    }

    /// Asks all who are registered to give memory back; false if nobody is.
    pub fn reclaim(&self) -> bool {
        let keepers = self.with_keepers(std::mem::take);
        let keepers: Vec<_> = keepers.iter().filter_map(Weak::upgrade).collect();
        keepers.iter().for_each(|keeper| keeper.give_up());
        !keepers.is_empty()
    }

    fn with_keepers<T: Default>(&self, deed: impl FnOnce(&mut Vec<Weak<dyn Keeper>>) -> T) -> T {
        match self.account.keepers.try_lock() {
            Ok(mut keepers) => deed(&mut keepers),
            Err(TryLockError::Poisoned(poisoned)) => deed(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => T::default(),
        }
    }

    fn take(&self, bytes: u64, what: &str) -> Result<()> {
        match self.try_take(bytes, what) {
            Err(_) if self.reclaim() => self.try_take(bytes, what),
            outcome => outcome,
        }
    }

    fn try_take(&self, bytes: u64, what: &str) -> Result<()> {
        let Account { total, used, .. } = &*self.account;
        let grown = |now: u64| now.checked_add(bytes).filter(|sum| sum <= total);
        // Only the count itself is shared, no memory is handed over by it: relaxed is enough.
        match used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown) {
            Ok(_) => Ok(()),
            Err(now) => Err(Error::Budget {
                what: what.to_owned(),
                wanted: bytes,
                free: total - now,
                total: *total,
            }),
        }
    }

    fn use_more(&self, bytes: u64) {
        let before = self.account.in_use.fetch_add(bytes, Ordering::Relaxed);
        self.account.peak.fetch_max(before + bytes, Ordering::Relaxed);
    }

    fn use_less(&self, bytes: u64) {
        self.account.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn give_back(&self, bytes: u64) {
        self.account.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes taken out of a [`Budget`], given back on drop.
#[derive(Debug)]
#[must_use = "the bytes are given back as soon as the reservation is dropped"]
pub struct Reservation {
    budget: Budget,
    bytes: u64,
    what: String,
    /// For a pool, the bytes that are memory already.
    touched: Option<AtomicU64>,
}

impl Reservation {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes `more` bytes; on failure what was held stays held.
    pub fn grow(&mut self, more: u64) -> Result<()> {
        self.budget.take(more, &self.what)?;
        if self.touched.is_none() {
            self.budget.use_more(more);
        }
        self.bytes += more;
        Ok(())
    }

    /// Records that `bytes` of a pool have become memory, at most what is held. What was touched once stays so.
    pub fn touch(&self, bytes: u64) {
        let Some(touched) = &self.touched else { return };
        let bytes = bytes.min(self.bytes);
        let before = touched.fetch_max(bytes, Ordering::Relaxed);
        if bytes > before {
            self.budget.use_more(bytes - before);
        }
    }

    /// Gives back `fewer` bytes, at most what is held.
    pub fn shrink(&mut self, fewer: u64) {
        let fewer = fewer.min(self.bytes);
        self.bytes -= fewer;
        let unused = match &mut self.touched {
            None => fewer,
            Some(touched) => {
                let touched = touched.get_mut();
                let unused = touched.saturating_sub(self.bytes);
                *touched -= unused;
                unused
            }
        };
        self.budget.use_less(unused);
        self.budget.give_back(fewer);
    }

    /// Grows or shrinks to `bytes`.
    pub fn resize(&mut self, bytes: u64) -> Result<()> {
        if bytes > self.bytes {
            return self.grow(bytes - self.bytes);
        }
        self.shrink(self.bytes - bytes);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_kept_for_later_goes_before_anything_is_refused() {
        struct Later(Mutex<Option<Reservation>>);
        impl Keeper for Later {
            fn give_up(&self) {
                drop(self.0.lock().unwrap().take());
            }
        }
        let budget = Budget::new(100);
        let kept = Arc::new(Later(Mutex::new(Some(budget.reserve(70, "later").unwrap()))));
        let weak: Weak<Later> = Arc::downgrade(&kept);
        budget.register(weak.clone());
        budget.register(weak);
        let small = budget.reserve(30, "now").unwrap();
        assert_eq!(budget.used(), 100);
        let large = budget.reserve(40, "now").unwrap();
        assert_eq!(budget.used(), 70);
        assert!(budget.reserve(31, "too much").is_err());
        assert!(!budget.reclaim());
        drop((small, large));
    }

    #[test]
    fn a_refusal_says_what_how_much_and_the_remedy() {
        let budget = Budget::new(4 << 30);
        let _held = budget.reserve(3 << 30, "the graph").unwrap();
        let text = budget.reserve(2 << 30, "the sort buffer").unwrap_err().to_string();
        for part in ["the sort buffer", "2 GiB", "1 GiB", "4 GiB", "raise the memory budget"] {
            assert!(text.contains(part), "{part:?} is missing in {text:?}");
        }
    }

    #[test]
    fn huge_requests_do_not_wrap_around() {
        for budget in [Budget::new(10), Budget::unlimited()] {
            let _held = budget.reserve(5, "a").unwrap();
            assert!(budget.reserve(u64::MAX, "b").is_err());
            assert_eq!(budget.used(), 5);
        }
    }

    #[test]
    fn a_failed_growth_keeps_what_was_held() {
        let budget = Budget::new(10);
        let mut held = budget.reserve(6, "a").unwrap();
        assert!(held.grow(5).is_err());
        assert_eq!((held.bytes(), budget.used()), (6, 6));
        held.resize(10).unwrap();
        held.resize(1).unwrap();
        held.shrink(100);
        assert_eq!((held.bytes(), budget.used(), budget.peak()), (0, 0, 10));
    }

    #[test]
    fn the_peak_counts_of_pools_what_was_touched() {
        let budget = Budget::new(100);
        let mut pool = budget.reserve_pool(80, "a pool").unwrap();
        assert_eq!((budget.used(), budget.peak()), (80, 0));
        pool.touch(30);
        pool.touch(20);
        let other = budget.reserve(15, "a").unwrap();
        assert_eq!((budget.free(), budget.peak()), (5, 45));
        drop(other);
        pool.touch(1000);
        assert_eq!(budget.peak(), 80);
        pool.shrink(70);
        pool.grow(10).unwrap();
        let _other = budget.reserve(80, "b").unwrap();
        assert_eq!((budget.used(), budget.peak()), (100, 90));
        drop(pool);
        assert_eq!(budget.used(), 80);
    }

    #[test]
    fn threads_never_exceed_the_total_and_give_all_back() {
        let budget = Budget::new(1000);
        std::thread::scope(|scope| {
            for worker in 1..=4u64 {
                let budget = budget.clone();
                scope.spawn(move || {
                    for round in 0..5_000 {
                        if let Ok(mut held) = budget.reserve(worker * 97 + round % 13, "a") {
                            let _ = held.grow(worker);
                            held.shrink(round % 3);
                        }
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
        assert!(budget.peak() > 0 && budget.peak() <= budget.total());
    }

    proptest! {
        #[test]
        fn any_history_agrees_with_plain_addition(
            total in 0u64..1000,
            steps in proptest::collection::vec((0usize..4, 0u64..400), 0..60),
        ) {
            let budget = Budget::new(total);
            let mut held: Vec<Reservation> = Vec::new();
            let mut peak = 0;
            for (deed, bytes) in steps {
                let used: u64 = held.iter().map(Reservation::bytes).sum();
                prop_assert_eq!(budget.used(), used);
                prop_assert_eq!(budget.free(), total - used);
                let fits = used + bytes <= total;
                match (deed, held.last_mut()) {
                    (1, Some(last)) => {
                        prop_assert_eq!(last.grow(bytes).is_ok(), fits);
                    }
                    (2, Some(last)) => last.shrink(bytes),
                    (3, Some(_)) => drop(held.pop()),
                    _ => match budget.reserve(bytes, "a") {
                        Ok(taken) => {
                            prop_assert!(fits);
                            held.push(taken);
                        }
                        Err(_) => prop_assert!(!fits),
                    },
                }
                peak = peak.max(held.iter().map(Reservation::bytes).sum());
                prop_assert_eq!(budget.peak(), peak);
            }
        }
    }
}
