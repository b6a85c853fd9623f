// The smallest bot, in Rust: plays a random legal move. Only the standard library.
// Build:  rustc -O -o random_bot_rust random_bot.rs
// Run:    ./random_bot_rust
// To write your own bot, change choose(). field() finds a value in a JSON object:
// strings(field(field(&line, "state"), "hand")) are your cards.
use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

fn choose<'a>(legal: &[&'a str], rng: &mut Rng) -> &'a str {
    legal[(rng.next() % legal.len() as u64) as usize]
}

struct Rng(u64);

impl Rng {
    // splitmix64: the standard library has no random numbers
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The length of the string that s begins with, both quotes included.
fn string_length(s: &str) -> usize {
    let mut escaped = false; // \" does not end the string
    for (i, c) in s.bytes().enumerate().skip(1) {
        if c == b'"' && !escaped {
            return i + 1;
        }
        escaped = c == b'\\' && !escaped;
    }
    s.len()
}

/// The length of the value that s begins with: up to a ',', a bracket or a space.
fn value_length(s: &str) -> usize {
    let (mut i, mut depth) = (0, 0);
    while i < s.len() {
        match s.as_bytes()[i] {
            b'"' => {
                i += string_length(&s[i..]);
                continue;
            }
            b',' | b'}' | b']' | b' ' if depth == 0 => break,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        i += 1;
    }
    i
}

/// The text of a key's value, or "". It walks the object key by key: searching the line for
/// "legal" would be fooled by an opponent of that name.
fn field<'a>(object: &'a str, key: &str) -> &'a str {
    let mut rest = object.trim_start_matches([' ', '{']);
    while rest.starts_with('"') {
        let (name, after) = rest.split_at(string_length(rest));
        let after = after.trim_start_matches([' ', ':']);
        let (value, after) = after.split_at(value_length(after));
        if name.trim_matches('"') == key {
            return value;
        }
        rest = after.trim_start_matches([' ', ',']);
    }
    ""
}

/// The strings of an array of strings without escapes: every second piece between quotes.
fn strings(array: &str) -> Vec<&str> {
    array.split('"').skip(1).step_by(2).collect()
}

fn main() -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let mut rng = Rng(now ^ std::process::id() as u64);
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        match field(&line, "type") {
            "\"hello\"" => writeln!(out, r#"{{"type":"hello","protocol":1,"name":"random-rust"}}"#)?,
            "\"round_start\"" => {
                if let Ok(seed) = field(&line, "seed").parse() {
                    rng = Rng(seed) // the same seed and the same requests: the same moves
                }
            }
            "\"request\"" => {
                let (id, legal) = (field(&line, "id"), strings(field(&line, "legal")));
                writeln!(out, r#"{{"type":"action","id":{id},"move":"{}"}}"#, choose(&legal, &mut rng))?
            }
            "\"error\"" => eprintln!("{line}"),
            "\"bye\"" => break,
            _ => {}
        }
        out.flush()?; // otherwise the answer may stay in the buffer while the server waits
    }
    Ok(())
}
