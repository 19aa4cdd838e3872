//! Random reads per second of every backend over one cold file, to be held against other tools:
//!
//! ```text
//! cargo run --release -p graphmill-disk --example random_reads -- FILE [THREADS] [READS] [BYTES] [BACKEND]
//! fio --name=r --filename=FILE --ioengine=io_uring --direct=1 --rw=randread --bs=4k --iodepth=128 --numjobs=2 \
//!     --runtime=3 --time_based --group_reporting
//! ```

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use graphmill_disk::{Advice, Backend, Error, Mapped, ReadAt, Result, drop_page_cache, open_same};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, usual: u64| {
        arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let Some(path) = arguments.first() else {
        return Err(Error::BadSize { text: "no file was named".to_owned() });
    };
    let (threads, reads, bytes) = (number(1, 2), number(2, 200_000), number(3, 4096));
    for backend in Backend::ALL {
        if arguments.get(4).is_some_and(|wanted| *wanted != backend.to_string()) {
            continue;
        }
        let mapped = Arc::new(Mapped::open(path)?);
        // As stores do: otherwise the kernel would read far around every page.
        mapped.advise(Advice::Random, 0..mapped.len())?;
        let file = open_same(&mapped, backend)?;
        let _evicted = drop_page_cache(file.file(), 0..file.len());
        // A map serves a fault at a time; fewer reads tell its rate as well.
        let reads = if backend == Backend::Mapped { reads / 10 } else { reads };
        let seconds = time(&*file, threads, reads / threads, bytes)?;
        report(backend, threads, reads, bytes, seconds);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example that prints what it measured")]
fn report(backend: Backend, threads: u64, reads: u64, bytes: u64, seconds: f64) {
    let rate = reads as f64 / seconds;
    let megabytes = rate * bytes as f64 / 1e6;
    println!("{backend:7} {threads} threads {bytes:7} B {rate:9.0} reads/s {megabytes:7.0} MB/s");
}

fn time(file: &dyn ReadAt, threads: u64, reads: u64, bytes: u64) -> Result<f64> {
    let blocks = file.len() / bytes;
    let lists: Vec<Vec<Range<u64>>> =
        (0..threads).map(|thread| random_ranges(thread, reads, blocks, bytes)).collect();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let readers: Vec<_> =
            lists.iter().map(|ranges| scope.spawn(|| read(file, ranges))).collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("readers do not panic"))
    })?;
    Ok(begun.elapsed().as_secs_f64())
}

fn random_ranges(thread: u64, reads: u64, blocks: u64, bytes: u64) -> Vec<Range<u64>> {
    let seed = Instant::now().elapsed().as_nanos() as u64 ^ u64::from(std::process::id());
    let mut state = seed.wrapping_mul(77).wrapping_add(thread);
    (0..reads)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let start = (state >> 20) % blocks * bytes;
            start..start + bytes
        })
        .collect()
}

fn read(file: &dyn ReadAt, ranges: &[Range<u64>]) -> Result<()> {
    let mut sum = 0_u64;
    file.read_each(ranges, &mut |_, bytes| {
        sum = sum.wrapping_add(u64::from(bytes[bytes.len() / 2]))
    })?;
    std::hint::black_box(sum);
    Ok(())
}
