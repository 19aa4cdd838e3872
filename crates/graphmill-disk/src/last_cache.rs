//! How large the last cache of the processor is: what is larger cannot be waiting there when somebody reads it.
//! Asked once, by whoever decides how to copy. It must not know what is copied.

use std::path::Path;
use std::sync::OnceLock;

/// Where the system does not tell.
const USUAL: usize = 32 << 20;

/// Bytes of the largest cache of the first core.
pub fn last_cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| told(Path::new("/sys/devices/system/cpu/cpu0/cache")).unwrap_or(USUAL))
}

/// The largest size that Linux tells in the files `index0/size`, `index1/size` and so on.
fn told(folder: &Path) -> Option<usize> {
    let sizes = (0..16)
        .map_while(|index| std::fs::read_to_string(folder.join(format!("index{index}/size"))).ok());
    sizes.filter_map(|size| parsed(&size)).max()
}

/// A size such as `32768K`.
fn parsed(size: &str) -> Option<usize> {
    let size = size.trim_end();
    let (number, unit) = match size.as_bytes().last()? {
        b'K' => (&size[..size.len() - 1], 1 << 10),
        b'M' => (&size[..size.len() - 1], 1 << 20),
        _ => (size, 1),
    };
    number.parse::<usize>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_all_caches_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(told(folder.path()), None);
        for (index, size) in ["48K\n", "32K\n", "2048K\n", "266240K\n"].iter().enumerate() {
            let cache = folder.path().join(format!("index{index}"));
            std::fs::create_dir(&cache).unwrap();
            std::fs::write(cache.join("size"), size).unwrap();
        }
        assert_eq!(told(folder.path()), Some(260 << 20));
        std::fs::write(folder.path().join("index3/size"), "\n").unwrap();
        assert_eq!(told(folder.path()), Some(2 << 20));
    }

    #[test]
    fn sizes_have_units_or_none() {
        assert_eq!(
            (parsed("64"), parsed("8K"), parsed("3M\n")),
            (Some(64), Some(8192), Some(3 << 20))
        );
        assert_eq!(
            (parsed(""), parsed("K"), parsed("0K"), parsed("many")),
            (None, None, None, None)
        );
        assert_eq!(parsed(&format!("{}M", usize::MAX)), None);
    }
}
