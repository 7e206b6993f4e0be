//! The state folder: small files that decide what may loosen, so only the user may have written them.
//!
//! Reading needs no lock, as a file is replaced whole; who changes one holds the folder's lock meanwhile. A file or
//! folder of somebody else, or that others can write to, says nothing. (Owner and mode are looked at where there are such.)

use super::{Stop, policies};
use fd_lock::RwLock;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The folder.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// How large one of its files may be.
const LARGEST: u64 = 16 * 1024 * 1024;

/// How long to wait for another acl that changes something.
const PATIENCE: Duration = Duration::from_secs(2);

impl Folder {
    /// The one that is named, or the user's own.
    pub fn of(named: Option<&Path>) -> Result<Self, Stop> {
        match named {
            Some(folder) => Ok(Self(folder.to_path_buf())),
            None => Self::own().ok_or_else(|| {
                Stop::helped("there is no state folder", "set `HOME` or `XDG_STATE_HOME`")
            }),
        }
    }

    /// The user's own.
    pub fn own() -> Option<Self> {
        policies::state_folder().map(Self)
    }

    /// Makes it, where it is not there.
    pub fn made(&self) -> std::io::Result<()> {
        folder(&self.0)
    }

    /// Where a file of it lies.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file's bytes; none where it is not there.
    ///
    /// # Errors
    /// A sentence about why it says nothing.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let path = self.file(name);
        // Before it is opened, too: a named pipe would wait for ever.
        match fs::metadata(&path) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(policies::unreadable(&path, &why)),
            Ok(found) if !found.is_file() => {
                return Err(format!("`{}` is no file", path.display()));
            }
            Ok(_) => {}
        }
        let unreadable = |why| policies::unreadable(&path, &why);
        only_ours(&self.0, &fs::metadata(&self.0).map_err(unreadable)?)?;
        let file = File::open(&path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        only_ours(&path, &found)?;
        // Room for all of it: reading grows it step by step else.
        let length = usize::try_from(found.len().min(LARGEST)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(length + 1);
        file.take(LARGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        match bytes.len() as u64 > LARGEST {
            true => Err(format!("`{}` is larger than 16 MiB", path.display())),
            false => Ok(Some(bytes)),
        }
    }

    /// Replaces a file, whole.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let beside = self.file(&format!("{name}.new"));
        // One that a killed process left behind.
        let _ = fs::remove_file(&beside);
        let mut file = private().write(true).create_new(true).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, self.file(name))
    }

    /// A folder in it.
    pub fn below(&self, name: &str) -> Self {
        Self(self.file(name))
    }

    /// Removes all its files but the newest.
    pub fn thin(&self, most: usize) -> std::io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.0)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        files.sort();
        let spare = files.len().saturating_sub(most);
        files
            .iter()
            .take(spare)
            .try_for_each(|(_, path)| fs::remove_file(path))
    }

    /// Replaces a file by what its bytes are made into, while nobody else changes it.
    pub fn change<T>(
        &self,
        name: &str,
        with: impl FnOnce(Option<Vec<u8>>) -> Result<(String, T), Stop>,
    ) -> Result<T, Stop> {
        let path = self.file(name);
        let failed =
            |why: std::io::Error| Stop::told(format!("cannot write `{}`: {why}", path.display()));
        self.made().map_err(failed)?;
        let found = fs::metadata(&self.0).map_err(failed)?;
        only_ours(&self.0, &found).map_err(Stop::told)?;
        let held = self.file("lock");
        let replaced = locked(&held, PATIENCE, || {
            let (text, answer) = with(self.read(name).map_err(Stop::told)?)?;
            self.replace(name, text.as_bytes()).map_err(failed)?;
            Ok(answer)
        });
        replaced.map_err(failed)?.unwrap_or_else(|| {
            Err(Stop::told(format!(
                "another process holds the lock `{}`: nothing was changed",
                held.display()
            )))
        })
    }
}

/// How files are opened that only the user may read: whoever may not write them need not know what they allow.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The text of a file that only the user, or root, can read and write.
///
/// # Errors
/// A sentence that names it.
#[cfg(feature = "gateway")]
pub fn private_text(path: &Path) -> Result<String, String> {
    let unreadable = |why| policies::unreadable(path, &why);
    let file = File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    only_ours(path, &found)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&found) & 0o077 != 0 {
        let path = path.display();
        return Err(format!("others can read `{path}`: `chmod 600` it"));
    }
    let mut text = String::new();
    file.take(LARGEST)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    Ok(text)
}

/// A folder of the user's alone, made where it is not there.
fn folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether only the user, or root, can have written this.
fn only_ours(path: &Path, found: &fs::Metadata) -> Result<(), String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let user = rustix::process::geteuid().as_raw();
        if found.uid() != user && found.uid() != 0 {
            return Err(format!("`{}` belongs to somebody else", path.display()));
        }
        if found.mode() & 0o022 != 0 {
            return Err(format!(
                "others can write to `{}`: look at what it says, then `chmod go-w` it",
                path.display()
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = (path, found);
    Ok(())
}

/// Does something while nobody else holds the lock that a file stands for; none where somebody keeps it for longer than that.
pub fn locked<T>(
    path: &Path,
    patience: Duration,
    work: impl FnOnce() -> T,
) -> std::io::Result<Option<T>> {
    let file = private()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let mut lock = RwLock::new(file);
    let started = Instant::now();
    loop {
        match lock.try_write() {
            Ok(_held) => return Ok(Some(work())),
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) if why.kind() == ErrorKind::WouldBlock => {
                if started.elapsed() > patience {
                    return Ok(None);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(why) => return Err(why),
        }
    }
}

/// The time, in milliseconds since 1970.
pub fn clock() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
