//! The frames of a zstd file, one after the other, each within the budget.
//! A frame says at its start how much memory unpacking it takes; that is reserved before the
//! decoder takes it. It sits below the streams of compressed text, and must not know what the
//! bytes mean.

use std::io::{self, BufRead, Read};

use graphmill_disk::{Budget, Reservation};
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::compressed::FileReader;

/// The largest window that a frame may ask for: 128 MiB, what the zstd tool accepts too.
const LARGEST_WINDOW_LOG: u32 = 27;
/// What the decoder takes besides the window: its tables and two blocks.
const CONTEXT: u64 = 512 << 10;
const FRAME: u32 = 0xFD2F_B528;
/// The first of sixteen numbers of frames that hold no data.
const SKIPPABLE: u32 = 0x184D_2A50;
/// The longest header of a frame.
const LONGEST_HEADER: usize = 18;

/// What all frames of a file unpack to, front to back.
pub(crate) struct ZstdFrames {
    packed: FileReader,
    decoder: Decoder<'static>,
    reserved: Reservation,
    within: bool,
}

impl ZstdFrames {
    pub(crate) fn new(packed: FileReader, budget: &Budget) -> io::Result<Self> {
        let reserved = budget.reserve(CONTEXT, "unpacking zstd").map_err(io::Error::other)?;
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(LARGEST_WINDOW_LOG))?;
        Ok(ZstdFrames { packed, decoder, reserved, within: false })
    }

    /// Gets ready for the next frame with data; false at the end of the file.
    fn begin_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut start = [0; LONGEST_HEADER];
            let length = self.packed.ahead(&mut start)?;
            if length == 0 {
                return Ok(false);
            }
            let start = &start[..length];
            match number(start, 0, 4) {
                Some(magic) if magic & !0xF == u64::from(SKIPPABLE) => {
                    self.skip(number(start, 4, 4))?;
                }
                Some(magic) if magic == u64::from(FRAME) => {
                    // A window beyond the limit is refused by the decoder, before it takes memory.
                    if let Some(window) = window(start)
                        && window <= 1 << LARGEST_WINDOW_LOG
                    {
                        self.reserved.resize(CONTEXT + window).map_err(io::Error::other)?;
                    }
                    self.decoder.reinit()?;
                    self.within = true;
                    return Ok(true);
                }
                Some(_) => {
                    let problem = "something that is no frame";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
                }
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Passes over a frame that holds no data.
    fn skip(&mut self, length: Option<u64>) -> io::Result<()> {
        let mut left = 8 + length.ok_or(io::ErrorKind::UnexpectedEof)?;
        while left > 0 {
            let ready = self.packed.fill_buf()?.len() as u64;
            if ready == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let piece = ready.min(left);
            self.packed.consume(piece as usize);
            left -= piece;
        }
        Ok(())
    }
}

impl Read for ZstdFrames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.within && !self.begin_frame()? {
                return Ok(0);
            }
            let ready = self.packed.fill_buf()?;
            let ended = ready.is_empty();
            let status = self.decoder.run_on_buffers(ready, into)?;
            self.packed.consume(status.bytes_read);
            self.within = status.remaining > 0;
            if status.bytes_written > 0 {
                return Ok(status.bytes_written);
            }
            if ended && self.within {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Bytes that a frame refers back to, by its header; None if the header is cut.
fn window(header: &[u8]) -> Option<u64> {
    let descriptor = *header.get(4)?;
    let is_single = descriptor & 0x20 != 0;
    if !is_single {
        let byte = u64::from(*header.get(5)?);
        let base = 1_u64 << (10 + (byte >> 3));
        return Some(base + base / 8 * (byte & 7));
    }
    // All of the content is the window, and its length follows the number of a dictionary.
    let content_at = 5 + [0, 1, 2, 4][usize::from(descriptor & 3)];
    match descriptor >> 6 {
        0 => number(header, content_at, 1),
        1 => number(header, content_at, 2).map(|length| length + 256),
        2 => number(header, content_at, 4),
        _ => number(header, content_at, 8),
    }
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + width)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_what_the_frame_was_written_with() {
        for log in [17, 20, 24] {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            io::copy(&mut io::repeat(7).take(1 << 18), &mut encoder).unwrap();
            assert_eq!(window(&encoder.finish().unwrap()), Some(1 << log));
        }
        // The length of a small content is known, and is its own window.
        for length in [0, 200, 255, 256, 1000, 70_000] {
            let packed = zstd::bulk::compress(&vec![3; length], 1).unwrap();
            assert_eq!(window(&packed), Some(length as u64), "{length}");
        }
        assert_eq!(window(&[0x28, 0xB5, 0x2F, 0xFD]), None);
    }
}
