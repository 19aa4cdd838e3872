//! The streams of the generators: the same bytes for a seed, however they are cut.

use proptest::{collection::vec, prelude::*};

use graphmill_ingest::generate::{EdgeSource, NodeData, Papers, Rmat, Sbm};

/// One of each kind, small and of awkward sizes.
fn kinds(seed: u64) -> [Box<dyn EdgeSource>; 3] {
    [
        Box::new(Rmat::builder(9, 5000).seed(seed).build().unwrap()),
        Box::new(Sbm::builder(997, 5000, 7).seed(seed).build().unwrap()),
        Box::new(Papers::builder(1009).edges(5000).seed(seed).build().unwrap()),
    ]
}

fn edges(source: &dyn EdgeSource, first: u64, count: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut sources, mut destinations) = (vec![0; count], vec![0; count]);
    source.fill(first, &mut sources, &mut destinations);
    (sources, destinations)
}

fn all_edges(source: &dyn EdgeSource) -> (Vec<u64>, Vec<u64>) {
    edges(source, 0, source.num_edges() as usize)
}

struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

fn digest_of_edges(source: &dyn EdgeSource) -> u64 {
    let (sources, destinations) = edges(source, 0, 10_000);
    let mut digest = Fnv::new();
    for (source, destination) in sources.iter().zip(&destinations) {
        digest.add(&source.to_le_bytes());
        digest.add(&destination.to_le_bytes());
    }
    digest.0
}

fn digest_of_rows(data: &dyn NodeData) -> u64 {
    let mut digest = Fnv::new();
    let mut row = vec![0.0; data.num_features()];
    for node in 0..100 {
        data.features(node, &mut row);
        row.iter().for_each(|value| digest.add(&value.to_le_bytes()));
        digest.add(&data.label(node).to_le_bytes());
        digest.add(&[data.split(node).map_or(0, |split| 1 + split as u8)]);
    }
    digest.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_same_seed_gives_the_same_edges_however_they_are_cut(
        seed in any::<u64>(),
        lengths in vec(0usize..1500, 0..12),
    ) {
        for (kind, again) in kinds(seed).iter().zip(&kinds(seed)) {
            let whole = all_edges(&**kind);
            let (mut sources, mut destinations) = (Vec::new(), Vec::new());
            for length in lengths.iter().copied().chain([usize::MAX]) {
                let length = length.min(whole.0.len() - sources.len());
                let (more_sources, more_destinations) = edges(&**again, sources.len() as u64, length);
                sources.extend(more_sources);
                destinations.extend(more_destinations);
            }
            prop_assert_eq!(&whole, &(sources, destinations));
        }
    }

    #[test]
    fn rows_labels_and_splits_do_not_depend_on_what_was_asked_before(
        seed in any::<u64>(),
        features in 0usize..200,
        nodes in vec(0u64..1000, 1..20),
    ) {
        let build = || Papers::builder(1000).features(features).seed(seed).build().unwrap();
        let (used, mut row) = (build(), vec![0.0; features]);
        for node in nodes {
            used.features(node, &mut row);
            let (fresh, mut fresh_row) = (build(), vec![f32::NAN; features]);
            fresh.features(node, &mut fresh_row);
            prop_assert_eq!(&row, &fresh_row);
            prop_assert!(row.iter().all(|value| value.abs() < 6.0));
            prop_assert_eq!(used.label(node), fresh.label(node));
            prop_assert_eq!(used.split(node), fresh.split(node));
        }
    }
}

#[test]
fn edges_can_be_made_backwards_one_by_one_and_in_threads() {
    for kind in kinds(3) {
        let (sources, destinations) = all_edges(&*kind);
        for index in (0..5000).rev() {
            let (source, destination) = edges(&*kind, index as u64, 1);
            assert_eq!((source[0], destination[0]), (sources[index], destinations[index]));
        }
        let (mut found_sources, mut found_destinations) = (vec![0; 5000], vec![0; 5000]);
        std::thread::scope(|scope| {
            let parts = found_sources.chunks_mut(777).zip(found_destinations.chunks_mut(777));
            for (part, (sources, destinations)) in parts.enumerate() {
                let kind = &kind;
                scope.spawn(move || kind.fill(777 * part as u64, sources, destinations));
            }
        });
        assert!(found_sources == sources && found_destinations == destinations);
    }
}

#[test]
fn other_seeds_give_other_graphs_rows_labels_and_splits() {
    for (one, other) in kinds(1).iter().zip(&kinds(2)) {
        assert_ne!(all_edges(&**one), all_edges(&**other));
    }
    let graphs = [1, 2].map(|seed| Papers::builder(1000).seed(seed).build().unwrap());
    let rows = graphs.each_ref().map(|graph| {
        let mut row = vec![0.0; 128];
        graph.features(0, &mut row);
        row
    });
    assert_ne!(rows[0], rows[1]);
    let [one, other] = &graphs;
    assert!((0..1000).any(|node| one.label(node) != other.label(node)));
    assert!((0..1000).any(|node| one.split(node) != other.split(node)));
}

#[test]
fn ids_stay_below_the_number_of_nodes() {
    for kind in kinds(0) {
        let (sources, destinations) = all_edges(&*kind);
        assert!(sources.iter().chain(&destinations).all(|&id| id < kind.num_nodes()));
    }
}

/// Datasets made from a seed are named in papers and reports: a change here is a change of all of
/// them, and must be a decision.
#[test]
fn the_streams_of_seed_0_never_change() {
    let rmat = Rmat::builder(20, 1 << 24).build().unwrap();
    let sbm = Sbm::builder(1_000_003, 8_000_000, 50).build().unwrap();
    let papers = Papers::builder(1_000_003).build().unwrap();
    assert_eq!(
        [digest_of_edges(&rmat), digest_of_edges(&sbm), digest_of_edges(&papers)],
        [0x89DB_3A09_59C1_37FF, 0xB532_B627_419B_0BDC, 0xB090_9E43_3F17_F37F]
    );
    assert_eq!(
        [digest_of_rows(&sbm), digest_of_rows(&papers)],
        [0xADB8_8054_1704_F85D, 0x1872_D5F9_A881_4C49]
    );
}

#[test]
fn edges_of_the_largest_graphs_are_in_range() {
    let kinds: [Box<dyn EdgeSource>; 3] = [
        Box::new(Rmat::builder(48, 1 << 59).build().unwrap()),
        Box::new(Sbm::builder(1 << 48, 1 << 59, u32::MAX).build().unwrap()),
        Box::new(Papers::builder(1 << 48).edges(1 << 59).build().unwrap()),
    ];
    for kind in kinds {
        let (sources, destinations) = edges(&*kind, (1 << 59) - 1000, 1000);
        let ids = || sources.iter().chain(&destinations);
        assert!(ids().all(|&id| id < 1 << 48));
        assert!(ids().any(|&id| id > 1 << 46));
    }
}
