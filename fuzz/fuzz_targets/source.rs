//! Arbitrary bytes as a TOML and as a YAML policy: no crash, no hang, spans inside the text, and a policy that
//! loads also decides.
#![no_main]

use acl::call::files::FileView;
use acl::call::{Args, Call};
use acl::matcher::Matcher;
use acl::policy::{self, LayerKind, Root, Trust};
use acl::source::{Format, Source};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Toml, Format::Yaml] {
        let Ok(source) = Source::new("fuzz", bytes.to_vec(), Some(format)) else { continue };
        let source = Arc::new(source);
        let root = Root { kind: LayerKind::User, source: Arc::clone(&source), folder: None, trusted: Trust::Yes };
        match policy::load(vec![root], &|name, _| Err(format!("no file `{name}`"))) {
            Ok(policy) => {
                let matcher = Matcher::compile(policy);
                let _ = matcher.check_examples();
                let args = Args::text("{\"command\":\"git push -f && cat .env\"}");
                let call = Call { cwd: Some("/w".into()), ..Call::new("bash", args) };
                acl::decision::decide(&matcher, &call, &FileView::None);
            }
            Err(findings) => {
                assert!(!findings.is_empty());
                for label in findings.iter().flat_map(|finding| &finding.labels) {
                    assert!(label.span.start <= label.span.end);
                    assert!(label.source.text.get(label.span.start..label.span.end).is_some());
                }
            }
        }
    }
});
