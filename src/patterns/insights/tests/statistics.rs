//! What the statistics say, compared with published tables and with scipy.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use crate::patterns::insights::*;

fn rate(count: usize, misses: usize) -> Rate {
    Rate { count, of: count + misses }
}

fn close(actual: f64, expected: f64) {
    let tolerance = 1e-6 * expected.max(1e-3);
    assert!((actual - expected).abs() <= tolerance, "{actual}, not {expected}");
}

/// R. A. Fisher, The Design of Experiments, 1935: the lady tasting tea; and Statistical Methods for Research
/// Workers: the twin brothers of thirty criminals, two-sided 0.000537.
#[test]
fn fishers_own_tables() {
    close(fisher_exact(rate(3, 1), rate(1, 3)), 34.0 / 70.0);
    close(fisher_exact(rate(4, 0), rate(0, 4)), 2.0 / 70.0);
    close(fisher_exact(rate(2, 15), rate(10, 3)), 0.000_536_724_119);
}

#[test]
fn equal_and_empty_groups_show_nothing() {
    close(fisher_exact(rate(5, 5), rate(5, 5)), 1.0);
    close(fisher_exact(rate(0, 7), rate(0, 9)), 1.0);
    close(fisher_exact(rate(0, 0), rate(3, 9)), 1.0);
    close(mann_whitney(&[], &[1.0]), 1.0);
    close(mann_whitney(&[4.0; 6], &[4.0; 9]), 1.0);
}

#[test]
fn a_rate_is_counted_and_rounded() {
    assert_eq!(rate(1, 7).percent(), Some(13));
    assert_eq!(rate(0, 0).percent(), None);
    assert_eq!(Rate::measure([1, 2, 3], |n| n > 1), rate(2, 1));
}

/// A small random number generator, so that every run uses the same tables.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((self.0 >> 33) % limit).unwrap()
    }
}

/// Compares the results for random groups with scipy, an independent implementation.
#[test]
fn scipy_says_the_same() {
    let mut numbers = Numbers(7);
    let (mut script, mut ours) = (String::from(HEAD), Vec::new());
    for _ in 0..400 {
        let [a, b, c, d] = [25, 25, 40, 12].map(|limit| numbers.below(limit));
        writeln!(script, "print(fisher_exact([[{a},{b}],[{c},{d}]])[1])").unwrap();
        ours.push(fisher_exact(rate(a, b), rate(c, d)));
    }
    for round in 0..300 {
        let distinct = round % 2 == 0;
        let mut group = |longest: u64, shift: usize| -> Vec<f64> {
            let length = numbers.below(longest) + 1;
            let values = (0..length).map(|_| {
                let value = numbers.below(if distinct { 1 << 30 } else { 12 }) + shift;
                f64::from(u32::try_from(value).unwrap())
            });
            values.collect()
        };
        let (one, other) = (group(14, 0), group(300, round % 4));
        writeln!(script, "print(mannwhitneyu({one:?},{other:?},method='asymptotic')[1])").unwrap();
        ours.push(mann_whitney(&one, &other));
    }
    let Some(theirs) = python(&script) else {
        return;
    };
    assert_eq!(theirs.len(), ours.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        // If all values are equal, scipy divides by zero.
        close(*ours, if theirs.is_nan() { 1.0 } else { theirs });
    }
}

const HEAD: &str = "import warnings\nwarnings.simplefilter('ignore')\n\
    from scipy.stats import fisher_exact, mannwhitneyu\n";

/// Returns the output of a Python script that uses scipy, or prints why it cannot be run.
#[expect(clippy::disallowed_methods, reason = "the test runs a reference tool")]
fn python(script: &str) -> Option<Vec<f64>> {
    let program = std::env::var("ANNALS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_scipy = std::process::Command::new(&program)
        .args(["-c", "import scipy"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !has_scipy {
        let required = std::env::var("ANNALS_REQUIRE").unwrap_or_default();
        assert!(!required.split(',').any(|name| name == "scipy"), "no scipy");
        let skipped =
            format!("SKIPPED: {program} has no scipy, the statistics are not compared with it\n");
        // A print macro is not used, because the test runner captures its output.
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
        return None;
    }
    let mut child = std::process::Command::new(&program)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| line.parse().unwrap()).collect())
}
