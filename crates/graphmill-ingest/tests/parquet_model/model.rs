//! A file as its footer and its pages.
//! When it is written again, the footer says where the pages lie then, so that a change of one number is the only one.

use super::numbers::Numbers;
use super::value::{Value, unexpected};

#[derive(Clone)]
pub struct Model {
    footer: Value,
    /// The pages of each column of each row group: headers and bytes.
    chunks: Vec<Vec<(Value, Vec<u8>)>>,
}

/// What is written, for changes on the way.
pub enum Part<'a> {
    Header(&'a mut Value),
    Page(&'a mut Vec<u8>),
    Footer(&'a mut Value),
}

// Fields of Parquet's structs.
const ROW_GROUPS: i16 = 4;
const COLUMNS: i16 = 1;
const META: i16 = 3;
const TOTAL: i16 = 7;
const DATA: i16 = 9;
const DICTIONARY: i16 = 11;

fn columns(footer: &mut Value) -> Vec<&mut Value> {
    let groups = footer.field_mut(ROW_GROUPS).unwrap().list_mut().iter_mut();
    let columns = groups.flat_map(|group| group.field_mut(COLUMNS).unwrap().list_mut().iter_mut());
    columns.map(|column| column.field_mut(META).unwrap()).collect()
}

impl Model {
    pub fn parse(file: &[u8]) -> Self {
        let tail = file.len() - 8;
        let length = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap()) as usize;
        let mut footer = Value::read(&mut &file[tail - length..tail]);
        let mut chunks = Vec::new();
        for meta in columns(&mut footer) {
            let offset = |field| meta.field(field).map(|value| value.number() as usize);
            let start = offset(DICTIONARY).unwrap_or(usize::MAX).min(offset(DATA).unwrap());
            let mut rest = &file[start..start + offset(TOTAL).unwrap()];
            let mut pages = Vec::new();
            while !rest.is_empty() {
                let header = Value::read(&mut rest);
                let (page, behind) = rest.split_at(header.field(3).unwrap().number() as usize);
                pages.push((header, page.to_vec()));
                rest = behind;
            }
            chunks.push(pages);
        }
        Model { footer, chunks }
    }

    /// The file; `change` sees every part before it is written, with a number for headers and pages.
    pub fn write(&self, change: &mut dyn FnMut(usize, Part<'_>)) -> Vec<u8> {
        let Model { mut footer, chunks } = self.clone();
        let (mut file, mut number) = (b"PAR1".to_vec(), 0);
        for (meta, pages) in columns(&mut footer).into_iter().zip(chunks) {
            let start = file.len();
            for (mut header, mut page) in pages {
                let is_data = header.field(1).unwrap().number() != 2;
                if let Some(Value::Int(_, offset)) =
                    meta.field_mut(if is_data { DATA } else { DICTIONARY })
                    && (*offset < start as i64 || !is_data)
                {
                    *offset = file.len() as i64;
                }
                change(number, Part::Page(&mut page));
                if let Some(Value::Int(_, length)) = header.field_mut(3) {
                    *length = page.len() as i64;
                }
                change(number, Part::Header(&mut header));
                header.write(&mut file);
                file.extend(page);
                number += 1;
            }
            if let Some(Value::Int(_, total)) = meta.field_mut(TOTAL) {
                *total = (file.len() - start) as i64;
            }
        }
        change(number, Part::Footer(&mut footer));
        let start = file.len();
        footer.write(&mut file);
        let length = (file.len() - start) as u32;
        file.extend(length.to_le_bytes());
        file.extend(b"PAR1");
        file
    }

    /// The file with one to three changes.
    pub fn mutated(&self, random: &mut Numbers) -> Vec<u8> {
        let pages = self.chunks.iter().map(Vec::len).sum::<usize>();
        let (way, page, times) = (random.below(8), random.below(pages), 1 + random.below(3));
        let mut file = self.write(&mut |number, part| match part {
            Part::Footer(footer) if way < 3 => (0..times).for_each(|_| footer.change(random)),
            Part::Header(header) if (3..6).contains(&way) && number == page => {
                (0..times).for_each(|_| header.change(random));
            }
            Part::Page(bytes) if (5..7).contains(&way) && number == page && !bytes.is_empty() => {
                // The first bytes say how many there are and how they are packed.
                let most = if random.below(2) == 0 { bytes.len().min(16) } else { bytes.len() };
                for _ in 0..times {
                    let at = random.below(most);
                    bytes[at] = unexpected(random, bytes[at].into()) as u8;
                }
                if random.below(8) == 0 {
                    bytes.truncate(random.below(bytes.len()));
                }
            }
            _ => {}
        });
        if way == 7 {
            for _ in 0..times {
                let at = random.below(file.len());
                file[at] = random.next() as u8;
            }
            if random.below(4) == 0 {
                file.truncate(random.below(file.len()));
            }
        }
        file
    }
}
