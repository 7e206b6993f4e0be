//! Arithmetic on constants: `$((1 + 2 * n))` where `n` is known. Anything else has no value here.

use super::env::{Env, Value};

/// The value of an expression of numbers, known names, parentheses and `+ - * / %`.
pub(super) fn evaluate(text: &str, env: &Env) -> Option<i64> {
    if text.len() > 256 {
        return None;
    }
    let mut reader = Reader {
        rest: text,
        env,
        depth: 0,
    };
    let value = reader.sum()?;
    reader.rest.trim_start().is_empty().then_some(value)
}

struct Reader<'r> {
    rest: &'r str,
    env: &'r Env,
    depth: usize,
}

impl Reader<'_> {
    fn next(&mut self, any: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let c = rest.chars().next().filter(|c| any.contains(c))?;
        let after = rest.get(1..)?;
        // `**`, `++`, `+=`, `--` mean something else.
        if after.starts_with(['*', '=']) || (after.starts_with(['+', '-']) && after.starts_with(c))
        {
            return None;
        }
        self.rest = after;
        Some(c)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(operator) = self.next(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' {
                value.checked_add(right)?
            } else {
                value.checked_sub(right)?
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        while let Some(operator) = self.next(&['*', '/', '%']) {
            let right = self.atom()?;
            value = match operator {
                '*' => value.checked_mul(right)?,
                '/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn atom(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let value = self.atom_within();
        self.depth -= 1;
        value
    }

    fn atom_within(&mut self) -> Option<i64> {
        if self.next(&['-']).is_some() {
            return self.atom()?.checked_neg();
        }
        if self.next(&['(']).is_some() {
            let value = self.sum()?;
            return self.next(&[')']).map(|_| value);
        }
        let rest = self.rest.trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.rest = after;
        // `08` is octal, `16#ff` has a base: not computed here.
        if word.bytes().all(|byte| byte.is_ascii_digit()) && (word == "0" || !word.starts_with('0'))
        {
            return word.parse().ok();
        }
        if !word
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        {
            return None;
        }
        match self.env.value(word) {
            Value::Known(value) => {
                let text = value.text()?;
                let plain = text.bytes().all(|byte| byte.is_ascii_digit())
                    && (text == "0" || !text.starts_with('0'));
                plain.then(|| text.parse().ok()).flatten()
            }
            _ => None,
        }
    }
}
