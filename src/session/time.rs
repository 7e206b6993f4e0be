//! Times as people write and read them: `2h`, `2026-01-02 03:04`. All of them are UTC, in milliseconds since 1970.
//!
//! In: text, or milliseconds. Out: the other. What has no unit, or is no date, is refused with a sentence.

const SECOND: i64 = 1000;
const DAY: i64 = 24 * 60 * 60 * SECOND;

/// The units of a duration.
const UNITS: [(char, i64); 5] = [
    ('s', SECOND),
    ('m', 60 * SECOND),
    ('h', 60 * 60 * SECOND),
    ('d', DAY),
    ('w', 7 * DAY),
];

/// `90s`, `30m`, `1h30m`, `7d`, `2w` → milliseconds.
///
/// # Errors
/// What a duration looks like.
pub fn duration(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is no duration: write `30m`, `2h` or `7d`");
    let mut total = 0_i64;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, after) = rest.split_at_checked(end).ok_or_else(wrong)?;
        let mut letters = after.chars();
        let unit = letters.next();
        let (_, unit) = UNITS
            .iter()
            .find(|(name, _)| Some(*name) == unit)
            .ok_or_else(wrong)?;
        let number: i64 = number.parse().map_err(|_| wrong())?;
        total = number
            .checked_mul(*unit)
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| format!("`{text}` is too long"))?;
        rest = letters.as_str();
    }
    match total {
        0 => Err(wrong()),
        total => Ok(total),
    }
}

/// A moment: a duration before now, `2026-01-02`, `2026-01-02 03:04` or `2026-01-02T03:04:05Z`.
///
/// # Errors
/// What a moment looks like.
pub fn moment(text: &str, now: i64) -> Result<i64, String> {
    if let Some(at) = date(text) {
        return Ok(at);
    }
    duration(text)
        .map(|ago| now.saturating_sub(ago))
        .map_err(|_| format!("`{text}` is no time: write `2h`, `2026-01-02` or `2026-01-02T03:04`"))
}

fn date(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (day, clock) = text.split_once(['T', ' ']).unwrap_or((text, "0:0"));
    let part = |text: &str, most: i64| {
        text.parse()
            .ok()
            .filter(|number| (0..=most).contains(number))
    };
    let mut parts = day.split('-');
    let year = part(parts.next().filter(|year| year.len() == 4)?, 9999)?;
    let month = part(parts.next()?, 12).filter(|month| *month > 0)?;
    let day = part(parts.next()?, 31).filter(|day| *day > 0)?;
    let mut clock = clock.split(':');
    let (hour, minute) = (part(clock.next()?, 23)?, part(clock.next()?, 59)?);
    let second = part(clock.next().unwrap_or("0"), 60)?;
    if parts.next().is_some() || clock.next().is_some() {
        return None;
    }
    let at = days(year, month, day) * DAY + ((hour * 60 + minute) * 60 + second) * SECOND;
    // 31 February is 3 March otherwise.
    (civil(at).2 == day).then_some(at)
}

/// `2026-01-02 03:04`, for a table.
pub fn shown(at: i64) -> String {
    let (year, month, day) = civil(at);
    let minutes = at.rem_euclid(DAY) / (60 * SECOND);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        minutes / 60,
        minutes % 60
    )
}

/// Days since 1970 of a date; a year begins in March, so that the odd day is its last.
/// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".)
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a moment.
const fn civil(at: i64) -> (i64, i64, i64) {
    let days = at.div_euclid(DAY) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{duration, moment, shown};

    #[test]
    fn durations() {
        assert_eq!(duration("90s"), Ok(90_000));
        assert_eq!(duration("1h30m"), Ok(5_400_000));
        assert_eq!(duration("2w"), Ok(14 * 86_400_000));
        for wrong in [
            "",
            "2",
            "h",
            "2y",
            "-2h",
            "0m",
            "2 h",
            "99999999999999999w",
            "2h3",
            "2ü",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn moments() {
        let now = 1_767_323_045_000;
        assert_eq!(shown(now), "2026-01-02 03:04");
        assert_eq!(moment("2026-01-02T03:04:05Z", 0), Ok(now));
        assert_eq!(moment("2026-01-02 03:04", 0), Ok(now - 5000));
        assert_eq!(moment("1h", now), Ok(now - 3_600_000));
        for day in [
            "1970-01-01",
            "2000-02-29",
            "2024-12-31",
            "2100-03-01",
            "0001-01-01",
        ] {
            let at = moment(day, 0).unwrap();
            assert_eq!(shown(at), format!("{day} 00:00"));
        }
        for wrong in [
            "2026-02-29",
            "2026-13-01",
            "2026-1",
            "26-01-01",
            "2026-01-02T25:00",
            "soon",
            "2026-01-02-03",
        ] {
            assert!(moment(wrong, 0).is_err(), "{wrong}");
        }
    }

    #[test]
    fn any_time_can_be_shown() {
        for at in [i64::MIN, i64::MAX, 0, -1] {
            assert!(shown(at).len() >= 16);
        }
    }
}
