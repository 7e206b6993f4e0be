use acl::call::shell::{Scene, accesses};
use std::time::Instant;
fn main() {
    let src = include_str!("../tests/acl/shell_bounds.rs");
    let _ = src;
    let scene = Scene {
        cwd: Some("/w".into()),
        home: Some("/home/dev".into()),
        ..Scene::default()
    };
    let ops = std::fs::read_to_string("/tmp/ops.json").unwrap();
    let ops: Vec<String> = serde_json::from_str(&ops).unwrap();
    let run = |name: &str, line: &str| {
        let t = Instant::now();
        let n = accesses(line, &scene).len();
        let e = t.elapsed();
        if e.as_micros() as usize > 2000 + line.len() / 5 {
            println!("{name:?} len {} took {e:?} accesses {n}", line.len());
        }
    };
    let mode = std::env::args().nth(1).unwrap();
    if mode == "one" {
        for o in &ops {
            for size in [2000, 65536] {
                run(o, &o.repeat(size / o.len()));
            }
        }
    }
    if mode == "big" {
        for o in &ops {
            run(o, &o.repeat((1 << 20) / o.len()));
        }
    }
    if mode == "two" {
        for a in &ops {
            for b in &ops {
                let p = format!("{a}{b}");
                run(&p, &p.repeat(6000 / p.len()));
                run(&p, &format!("{}x{}", a.repeat(40), b.repeat(40)));
            }
        }
    }
    if mode == "file" {
        let l: Vec<String> =
            serde_json::from_str(&std::fs::read_to_string("/tmp/lines.json").unwrap()).unwrap();
        for (i, x) in l.iter().enumerate() {
            let t = Instant::now();
            let n = accesses(x, &scene).len();
            println!("{i} {} {:?} {n}", x.len(), t.elapsed());
        }
    }
    if mode == "perf" {
        let t = |n: u32, name: &str, s: &str| {
            let t = Instant::now();
            for _ in 0..n {
                std::hint::black_box(accesses(std::hint::black_box(s), &scene));
            }
            println!("{name} len {} {:?}", s.len(), t.elapsed() / n);
        };
        for _ in 0..2 {
            t(20000, "short", "git status && ls -la | wc -l");
            let s = "for f in a b; do echo \"$f\" | grep -v x > out.txt; done\nif [ -f x ]; then cat x && rm -rf \"$(pwd)/y\"; fi\n";
            t(300, "2k", &s.repeat(19));
            t(10, "64k", &s.repeat(600));
            t(10, "64k a;", &"a;".repeat(32000));
            t(10, "64k X=1;", &"X=1;".repeat(16000));
        }
    }
}
