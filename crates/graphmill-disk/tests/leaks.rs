//! Opening and closing leaves nothing behind. Alone in its process, because it counts what the
//! whole process holds.

#![cfg(target_os = "linux")]

use graphmill_disk::{Backend, Mapped, PrivateMap, open};
use graphmill_rounds::rounds;

fn descriptors_and_maps() -> (usize, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    (descriptors, maps)
}

#[test]
fn rounds_leave_the_same_descriptors_and_maps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let round = || {
        for backend in Backend::ALL {
            let file = open(&path, backend).unwrap();
            file.read_exact_at(1000, &mut [0; 5000]).unwrap();
            // The ring and the reading threads that this starts stay, and no more come.
            file.read_each(&[5..600, 9000..90_000], &mut |_, _| {}).unwrap();
        }
        let mapped = Mapped::open(&path).unwrap();
        let view = PrivateMap::of(&mapped).unwrap();
        drop(mapped);
        // SAFETY: inside the view, which outlives the file it came from.
        unsafe { view.as_mut_ptr().write(2) };
        drop(PrivateMap::open(&path).unwrap());
    };
    round();
    let before = descriptors_and_maps();
    (0..rounds(1000)).for_each(|_| round());
    assert_eq!(descriptors_and_maps(), before);
}
