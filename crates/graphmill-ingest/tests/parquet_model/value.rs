//! Thrift's compact protocol as a tree that can be changed and written again.

use super::numbers::Numbers;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    /// A number of a type from i8 to i64.
    Int(u8, i64),
    Double([u8; 8]),
    Binary(Vec<u8>),
    List(u8, Vec<Value>),
    Struct(Vec<(i16, Value)>),
}

fn unsigned(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
        shift += 7;
    }
}

fn put_unsigned(mut value: u64, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

fn put_signed(value: i64, into: &mut Vec<u8>) {
    put_unsigned(((value << 1) ^ (value >> 63)) as u64, into);
}

fn signed(bytes: &mut &[u8]) -> i64 {
    let value = unsigned(bytes);
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

impl Value {
    /// Reads a struct from the front of some bytes.
    pub fn read(bytes: &mut &[u8]) -> Value {
        Self::read_as(STRUCT, bytes)
    }

    fn read_as(kind: u8, bytes: &mut &[u8]) -> Value {
        match kind {
            TRUE | FALSE => Value::Bool(kind == TRUE),
            3 => Value::Int(kind, take(bytes, 1)[0] as i8 as i64),
            4..=6 => Value::Int(kind, signed(bytes)),
            7 => Value::Double(take(bytes, 8).try_into().unwrap()),
            BINARY => {
                let length = unsigned(bytes) as usize;
                Value::Binary(take(bytes, length).to_vec())
            }
            LIST | 10 => {
                let head = take(bytes, 1)[0];
                let count = match head >> 4 {
                    15 => unsigned(bytes),
                    count => count.into(),
                };
                let values = (0..count).map(|_| Self::read_as(head & 0xF, bytes)).collect();
                Value::List(head & 0xF, values)
            }
            STRUCT => {
                let (mut fields, mut last) = (Vec::new(), 0_i16);
                loop {
                    let head = take(bytes, 1)[0];
                    if head == 0 {
                        return Value::Struct(fields);
                    }
                    last = match head >> 4 {
                        0 => signed(bytes) as i16,
                        step => last + i16::from(step),
                    };
                    fields.push((last, Self::read_as(head & 0xF, bytes)));
                }
            }
            _ => panic!("type {kind}"),
        }
    }

    fn kind(&self) -> u8 {
        match self {
            Value::Bool(true) => TRUE,
            Value::Bool(false) => FALSE,
            Value::Int(kind, _) => *kind,
            Value::Double(_) => 7,
            Value::Binary(_) => BINARY,
            Value::List(..) => LIST,
            Value::Struct(_) => STRUCT,
        }
    }

    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Value::Bool(_) => {}
            Value::Int(3, value) => into.push(*value as u8),
            Value::Int(_, value) => put_signed(*value, into),
            Value::Double(bytes) => into.extend(bytes),
            Value::Binary(bytes) => {
                put_unsigned(bytes.len() as u64, into);
                into.extend(bytes);
            }
            Value::List(kind, values) => {
                match values.len() {
                    count @ 0..15 => into.push((count as u8) << 4 | kind),
                    count => {
                        into.push(0xF0 | kind);
                        put_unsigned(count as u64, into);
                    }
                }
                values.iter().for_each(|value| value.write(into));
            }
            Value::Struct(fields) => {
                let mut last = 0_i16;
                for (id, value) in fields {
                    match id.wrapping_sub(last) {
                        step @ 1..16 => into.push((step as u8) << 4 | value.kind()),
                        _ => {
                            into.push(value.kind());
                            put_signed((*id).into(), into);
                        }
                    }
                    value.write(into);
                    last = *id;
                }
                into.push(0);
            }
        }
    }

    pub fn field(&self, id: i16) -> Option<&Value> {
        let Value::Struct(fields) = self else { return None };
        fields.iter().find(|(known, _)| *known == id).map(|(_, value)| value)
    }

    pub fn field_mut(&mut self, id: i16) -> Option<&mut Value> {
        let Value::Struct(fields) = self else { return None };
        fields.iter_mut().find(|(known, _)| *known == id).map(|(_, value)| value)
    }

    pub fn list_mut(&mut self) -> &mut Vec<Value> {
        match self {
            Value::List(_, values) => values,
            other => panic!("{other:?} is no list"),
        }
    }

    pub fn number(&self) -> i64 {
        match self {
            Value::Int(_, value) => *value,
            other => panic!("{other:?} is no number"),
        }
    }

    fn children(&mut self) -> Vec<&mut Value> {
        match self {
            Value::List(_, values) => values.iter_mut().collect(),
            Value::Struct(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    fn count(&mut self) -> usize {
        1 + self.children().into_iter().map(Value::count).sum::<usize>()
    }

    /// Changes one value of the tree, itself or any below it.
    pub fn change(&mut self, random: &mut Numbers) {
        let chosen = random.below(self.count());
        self.change_at(chosen, random);
    }

    fn change_at(&mut self, mut chosen: usize, random: &mut Numbers) {
        if chosen == 0 {
            return self.change_this(random);
        }
        chosen -= 1;
        for child in self.children() {
            let count = child.count();
            if chosen < count {
                return child.change_at(chosen, random);
            }
            chosen -= count;
        }
    }

    fn change_this(&mut self, random: &mut Numbers) {
        match self {
            Value::Bool(value) => *value = !*value,
            Value::Int(_, value) => *value = unexpected(random, *value),
            Value::Double(bytes) => bytes[random.below(8)] ^= 1 << random.below(8),
            Value::Binary(bytes) if bytes.is_empty() => bytes.extend(random.next().to_le_bytes()),
            Value::Binary(bytes) => {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes.truncate(at),
                    1 => bytes[at] = random.next() as u8,
                    _ => bytes.extend_from_within(at..),
                }
            }
            Value::List(_, values) if !values.is_empty() => {
                let at = random.below(values.len());
                match random.below(3) {
                    0 => drop(values.remove(at)),
                    1 => values.insert(at, values[at].clone()),
                    _ => values.swap(0, at),
                }
            }
            Value::List(kind, values) => values.push(Value::Int(*kind, 1)),
            Value::Struct(fields) if !fields.is_empty() => {
                let at = random.below(fields.len());
                match random.below(3) {
                    0 => drop(fields.remove(at)),
                    1 => fields[at].0 = fields[at].0.wrapping_add(1),
                    _ => fields.push((fields[at].0, fields[at].1.clone())),
                }
            }
            Value::Struct(fields) => fields.push((5, Value::Int(5, 1))),
        }
    }
}

/// A number that a reader may not have thought of, or one near `old`.
pub fn unexpected(random: &mut Numbers, old: i64) -> i64 {
    let known = [0, 1, -1, 2, 7, 255, 1 << 16, 1 << 20, 1 << 30, 1 << 31, 1 << 33, 1 << 40];
    let limits = [i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN];
    match random.below(8) {
        0..3 => known[random.below(known.len())],
        3 => limits[random.below(limits.len())],
        4 => old.wrapping_add(1 + random.below(8) as i64),
        5 => old.wrapping_sub(1 + random.below(8) as i64),
        6 => old.wrapping_mul(1 << random.below(40)),
        _ => random.next() as i64 >> random.below(64),
    }
}
