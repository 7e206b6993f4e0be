//! Rows of texts → columns in a terminal.
//!
//! In: a headline and rows, how wide it may be. Out: lines; a cell without room ends in `…`, of the widest column first.

use super::picture::shortened;
use unicode_width::UnicodeWidthStr;

/// What stands between two columns.
const GAP: usize = 2;

/// How narrow a column may get.
const NARROWEST: usize = 5;

/// The rows below their headline, within `width` columns.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]], width: usize) -> String {
    let cut = |text: &str| shortened(text, width);
    let rows: Vec<[String; N]> = std::iter::once(head.map(cut))
        .chain(rows.iter().map(|row| row.each_ref().map(|cell| cut(cell))))
        .collect();
    let mut widths = [0; N];
    for row in &rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = cell.width().max(*widest);
        }
    }
    let room = width.saturating_sub(GAP * N.saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max_by_key(|width| **width);
        match widest.filter(|width| **width > NARROWEST) {
            Some(width) => *width -= 1,
            None => break,
        }
    }
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let cell = shortened(cell, width);
            line += &cell;
            line.extend(std::iter::repeat_n(
                ' ',
                width + GAP - cell.width().min(width),
            ));
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn the_widest_column_gives_way() {
        let rows = [
            [
                "1".to_owned(),
                "a line that is long\nand goes on".to_owned(),
            ],
            ["22".to_owned(), "wide 漢字漢字漢字漢字".to_owned()],
        ];
        assert_eq!(
            table(["no", "line"], &rows, 20),
            "no  line\n1   a line that is…\n22  wide 漢字漢字漢…\n"
        );
        assert_eq!(table(["a", "b"], &[], 20), "a  b\n");
    }
}
