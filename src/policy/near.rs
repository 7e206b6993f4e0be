//! The nearest known name to one that is not known: "did you mean …?".

/// The nearest name, where one is near enough to be what was meant.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let folded = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (
                strsim::osa_distance(&folded, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| {
            let length = folded.chars().count().max(candidate.chars().count());
            *distance <= (length / 3).max(1) && *distance < length
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The name that was meant, where only one is near.
pub fn only<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let mut near = known.into_iter().filter_map(|own| nearest(name, [own]));
    let first = near.next()?;
    near.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    #[test]
    fn near_names() {
        for (name, want) in [
            ("wirte", Some("write")),
            ("alow", Some("allow")),
            ("smart_approve", None),
            ("x", None),
        ] {
            assert_eq!(
                super::nearest(name, ["read", "write", "allow"]),
                want,
                "{name}"
            );
        }
    }
}
