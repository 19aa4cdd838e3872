//! Nodes in orders that follow their neighbourhoods.

use std::collections::VecDeque;

use super::*;

/// Logs edges and puts their nodes in order.
fn ordered(bench: &Bench, edges: &Edges, order: Order) -> (Vec<u64>, EdgeLog) {
    let columns = LogColumns { weights: false, times: false, rows: false };
    let writer = EdgeLogWriter::new(&bench.workspace, columns, 0).unwrap();
    push_all(edges, 3000, columns, |chunk| writer.push(chunk)).unwrap();
    let log = writer.finish().unwrap();
    let numbering = Numbering::plain(&bench.workspace).unwrap();
    let (numbering, log) = numbering.ordered(log, order, None).unwrap();
    let mut numbers: Vec<u64> = (0..log.id_limit()).collect();
    assert_eq!(numbering.of_ids(&mut numbers).unwrap(), Ok(()));
    let originals = originals(&numbering, log.id_limit()).unwrap_or_default();
    for (id, &number) in numbers.iter().enumerate() {
        assert_eq!(originals[number as usize], id as i64);
    }
    (numbers, log)
}

/// The neighbours of every node, ascending, as often as there are edges.
fn neighbours(edges: &Edges, nodes: u64) -> Vec<Vec<u64>> {
    let mut lists = vec![Vec::new(); nodes as usize];
    for (&source, &to) in edges.sources.iter().zip(&edges.destinations) {
        if source != to {
            lists[source as usize].push(to);
            lists[to as usize].push(source);
        }
    }
    lists.iter_mut().for_each(|list| list.sort_unstable());
    lists
}

/// Breadth first, as everybody would write it.
fn breadth_first(lists: &[Vec<u64>]) -> Vec<u64> {
    let hub = (0..lists.len()).rev().max_by_key(|&node| lists[node].len()).unwrap_or(0);
    let mut numbers = vec![None; lists.len()];
    let mut next = 0;
    for start in [hub].into_iter().chain(0..lists.len()) {
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if numbers[node].is_some() {
                continue;
            }
            numbers[node] = Some(next);
            next += 1;
            queue.extend(lists[node].iter().map(|&neighbour| neighbour as usize));
        }
    }
    numbers.into_iter().map(|number| number.unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn breadth_first_is_that_of_a_queue(
        rows in 1_u64..20_000,
        nodes in prop_oneof![1_u64..50, 1000_u64..60_000],
        memory in prop_oneof![Just(2_u64 << 20), Just(64 << 20)],
        threads in 1_usize..4,
    ) {
        let end = |row: u64, salt: u64| mixed(row + salt) % nodes;
        let edges = Edges::new((0..rows).map(|row| (end(row, 11), end(row, 77_777))));
        on_threads(threads, || {
            let bench = Bench::new(memory);
            let (numbers, log) = ordered(&bench, &edges, Order::Bfs);
            assert_eq!(numbers, breadth_first(&neighbours(&edges, log.id_limit())));
            drop(log);
            bench.close(&[]);
        });
    }
}

/// Rings of neighbours, whose nodes have ids from all over, with a few edges in between.
fn rings(count: u64, length: u64) -> Edges {
    let id = |node: u64| mixed_place(node, count * length);
    Edges::new((0..count * length).flat_map(|node| {
        let (ring, at) = (node / length, node % length);
        let near = move |by: u64| (id(node), id(ring * length + (at + by) % length));
        let far = (node % 17 == 0).then(|| (id(node), id(mixed(node) % (count * length))));
        (1..4).map(near).chain(far)
    }))
}

/// A place of its own for every node.
fn mixed_place(node: u64, count: u64) -> u64 {
    // Odd and not a divisor, so it meets every place once.
    (node * 7_919 + 13) % count
}

#[test]
fn communities_lie_together() {
    let (count, length) = (100, 80);
    let edges = rings(count, length);
    let heat = Heat::at(End::Both);
    for threads in [1, 3] {
        on_threads(threads, || {
            let bench = Bench::new(16 << 20);
            let (numbers, log) = ordered(&bench, &edges, Order::Community(heat));
            // How far from each other the ends of edges lie.
            let close = edges.sources.iter().zip(&edges.destinations).filter(|(source, to)| {
                numbers[**source as usize].abs_diff(numbers[**to as usize]) < 2 * length
            });
            let share = close.count() as f64 / edges.rows() as f64;
            assert!(share > 0.9, "{share}");
            assert!(numbers.iter().sum::<u64>() == (0..count * length).sum::<u64>());
            drop(log);
            bench.close(&[]);
        });
    }
}

#[test]
fn within_a_community_the_hottest_come_first_and_lone_nodes_last() {
    // A clique whose node 5 has most edges, a pair, and nodes 20 to 29 that only have a self loop.
    let clique = (0..10).flat_map(|one| (0..one).map(move |other| (one, other)));
    let hot = (0..9).map(|_| (5, 0));
    let alone = (20..30).map(|node| (node, node));
    let edges = Edges::new(clique.chain(hot).chain([(12, 13), (13, 12)]).chain(alone));
    let bench = Bench::new(4 << 20);
    let (numbers, log) = ordered(&bench, &edges, Order::Community(Heat::at(End::Source)));
    let of = |nodes: std::ops::Range<usize>| {
        let mut numbers = numbers[nodes].to_vec();
        numbers.sort_unstable();
        numbers
    };
    let clique = of(0..10);
    assert_eq!(clique[9] - clique[0], 9);
    // Node 9 starts nine edges, node 5 fourteen.
    assert_eq!((numbers[5], numbers[9]), (clique[0], clique[1]));
    assert_eq!(numbers[12].abs_diff(numbers[13]), 1);
    let connected = of(0..10).into_iter().chain(of(12..14)).max().unwrap();
    assert!(of(20..30)[0] > connected);
    drop(log);
    bench.close(&[]);
}

#[test]
fn too_little_memory_for_an_order_is_told() {
    let edges =
        Edges::new((0..200_000).map(|row| (mixed(row) % 150_000, mixed(row + 9) % 150_000)));
    for order in [Order::Bfs, Order::Community(Heat::at(End::Both))] {
        let bench = Bench::new(1 << 20);
        let columns = LogColumns { weights: false, times: false, rows: false };
        let writer = EdgeLogWriter::new(&bench.workspace, columns, 0).unwrap();
        push_all(&edges, 3000, columns, |chunk| writer.push(chunk)).unwrap();
        let log = writer.finish().unwrap();
        let numbering = Numbering::plain(&bench.workspace).unwrap();
        let error = numbering.ordered(log, order, None).unwrap_err().to_string();
        assert!(error.contains("of nodes"), "{error}");
        bench.close(&[]);
    }
}
