//! Runs processes in turn and measures them; shared by the benchmarks.
//!
//! Each round runs all rows, so that a slowdown of the machine affects all of them. Only ratios within a run
//! are meaningful. CPU is the user and system time of the process, which is more reliable than wall-clock
//! time if other work shares the cores.

use std::fmt::Write as _;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

/// Returns the measured program: the one built with the benchmark, or `ANNALS_BENCH_PROGRAM`.
pub(crate) fn program() -> PathBuf {
    let named = env::var_os("ANNALS_BENCH_PROGRAM");
    let program = named.map_or_else(|| env!("CARGO_BIN_EXE_annals").into(), PathBuf::from);
    // The processes run in other folders.
    program.canonicalize().unwrap()
}

/// An action before each start.
type Before = Box<dyn FnMut(&Path)>;

/// A process to start and time.
pub(crate) struct Row {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    input: Option<PathBuf>,
    before: Option<Before>,
    /// Whether it exits with 1 because nothing was found.
    finds_nothing: bool,
    times: Vec<Duration>,
    processor: Vec<Duration>,
}

impl Row {
    pub(crate) fn new(name: &str, program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            program: program.into(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
            input: None,
            before: None,
            finds_nothing: false,
            times: Vec::new(),
            processor: Vec::new(),
        }
    }

    /// Creates a row for `annals`, named after its arguments.
    pub(crate) fn annals(line: &str) -> Self {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        Self::new(&format!("annals {line}"), program(), &arguments)
    }

    pub(crate) fn shell(name: &str, script: &str, arguments: &[&str]) -> Self {
        Self::new(name, "bash", &[&["-c", script, "sh"], arguments].concat())
    }

    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Sets the file to read as standard input.
    pub(crate) fn reading(mut self, input: &Path) -> Self {
        self.input = Some(input.to_owned());
        self
    }

    /// Expects exit code 1, which means that nothing was found.
    pub(crate) fn finding_nothing(mut self) -> Self {
        self.finds_nothing = true;
        self
    }

    /// Sets an action to run in the folder before each start, untimed.
    pub(crate) fn after(mut self, before: impl FnMut(&Path) + 'static) -> Self {
        self.before = Some(Box::new(before));
        self
    }

    /// Runs once; returns whether the program exists and exited as expected.
    pub(crate) fn run(&mut self, place: &Place) -> bool {
        if let Some(before) = &mut self.before {
            before(&place.folder);
        }
        let mut command = self.command(place);
        let start = Instant::now();
        let Ok(child) = command.spawn() else {
            // The program is missing.
            return false;
        };
        let (code, processor) = ended(&child);
        self.times.push(start.elapsed());
        self.processor.push(processor);
        code == Some(i32::from(self.finds_nothing))
    }

    fn command(&self, place: &Place) -> Command {
        let mut command = place.command(&self.program);
        command.args(&self.arguments);
        if let Some(input) = &self.input {
            command.stdin(File::open(input).unwrap());
        }
        command
    }

    fn forget(&mut self) {
        self.times.clear();
        self.processor.clear();
    }

    /// Returns the peak memory of a run, in KiB, which the kernel reports while it is running.
    ///
    /// The value from `wait4` would include the memory of the parent process.
    fn peak(&mut self, place: &Place) -> u64 {
        let mut most = 0;
        for _ in 0..5 {
            if let Some(before) = &mut self.before {
                before(&place.folder);
            }
            let mut child = self.command(place).spawn().unwrap();
            let status = format!("/proc/{}/status", child.id());
            while child.try_wait().unwrap().is_none() {
                let text = fs::read_to_string(&status).unwrap_or_default();
                let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kib = line.and_then(|line| line.split_whitespace().next());
                most = most.max(kib.map_or(0, |kib| kib.parse().unwrap()));
            }
        }
        most
    }
}

/// Waits for a process; returns its exit code and its CPU time.
#[expect(unsafe_code, reason = "the standard library does not provide the CPU time of a child")]
fn ended(child: &Child) -> (Option<i32>, Duration) {
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for the call, and zeroes are a valid `rusage`.
    let usage = unsafe {
        let ended = libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr());
        assert_eq!(ended, pid);
        usage.assume_init()
    };
    let time = |time: libc::timeval| {
        let micros = time.tv_sec * 1_000_000 + time.tv_usec;
        Duration::from_micros(u64::try_from(micros).unwrap())
    };
    let code = ExitStatus::from_raw(status).code();
    (code, time(usage.ru_utime) + time(usage.ru_stime))
}

/// A folder to run in, with its own environment.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    environment: Vec<(&'static str, String)>,
}

impl Place {
    pub(crate) fn new(folder: &Path, home: &Path) -> Self {
        let environment = vec![
            ("PATH", env::var("PATH").unwrap_or_default()),
            ("HOME", home.to_str().unwrap().to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ];
        Self { folder: folder.to_owned(), environment }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment.iter().cloned())
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs git, and returns its output if it succeeds.
    pub(crate) fn git(&self, arguments: &[&str]) -> Option<String> {
        let mut command = self.command(Path::new("git"));
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        let output = command.args(arguments).stdout(Stdio::piped()).output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}

/// Returns a number from the environment.
pub(crate) fn setting(name: &str, otherwise: usize) -> usize {
    env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}

/// Measures the rows in turn, and returns a table; `peers` are prefixes of the rows to compare with.
///
/// Rows that fail are omitted, and so are those of missing programs.
pub(crate) fn page(place: &Place, mut rows: Vec<Row>, runs: usize, peers: &[&str]) -> String {
    // Two untimed runs fill the caches.
    rows.retain_mut(|row| row.run(place) && row.run(place));
    rows.iter_mut().for_each(Row::forget);
    for _ in 0..runs {
        for row in &mut rows {
            row.run(place);
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let mut page = format!("{runs} runs each, {cores} cores, load {load}\n\n");
    page.push_str("| process | median ms | min | p95 | CPU median ms | peak MiB |");
    for peer in peers {
        write!(page, " of {peer} |").unwrap();
    }
    page.push_str("\n|---|--:|--:|--:|--:|--:|");
    page.push_str(&"--:|".repeat(peers.len()));
    page.push('\n');
    let floors: Vec<Option<f64>> = peers
        .iter()
        .map(|peer| {
            let row = rows.iter().find(|row| row.name.starts_with(peer));
            row.map(|row| quantile(&row.times, 50))
        })
        .collect();
    for row in &mut rows {
        let mib = row.peak(place).div_ceil(1024);
        let median = quantile(&row.times, 50);
        write!(
            page,
            "| {} | {median:.2} | {:.2} | {:.2} | {:.2} | {mib} |",
            row.name,
            quantile(&row.times, 0),
            quantile(&row.times, 95),
            quantile(&row.processor, 50),
        )
        .unwrap();
        for floor in &floors {
            match floor {
                Some(floor) => write!(page, " {:.2} |", median / floor).unwrap(),
                None => page.push_str(" - |"),
            }
        }
        page.push('\n');
    }
    page
}

fn quantile(times: &[Duration], of_hundred: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() - 1) * of_hundred / 100].as_secs_f64() * 1000.0
}
