//! System calls by their number. A call that no safe function makes is made by a program of a few instructions, which the
//! prisoner writes into its folder and runs: it ends with 0, or with the number of the error.

use std::{
    fs, io,
    os::unix::{
        fs::OpenOptionsExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

use libc::c_long;

use crate::attempt::Outcome;

/// Where the program is in its memory; behind its code come the bytes that its arguments point to.
const BASE: u64 = 0x0040_0000;
const HEADERS: u64 = 64 + 56;
/// Code never gets so long.
const DATA: u64 = 0x1000;
/// Where a call may write: zeros at first.
pub(crate) const SCRATCH: Word = Word::At(0x2000);
const SIZE: u64 = 0x4000;

/// An argument of a call.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    /// A number.
    Is(u64),
    /// The address of what is this far behind the program's beginning.
    At(u64),
    /// What the call before returned.
    Last,
}

impl Word {
    /// Where what it points to is in memory, for what points there in turn.
    pub(crate) fn address(self) -> u64 {
        let Self::At(offset) = self else { panic!("it points nowhere") };
        BASE + offset
    }
}

/// A number that may be negative, as an argument.
pub(crate) fn n(number: i64) -> Word {
    Word::Is(number.cast_unsigned())
}

/// Calls, one after the other until one fails.
#[derive(Default)]
pub(crate) struct Calls {
    code: Vec<u8>,
    data: Vec<u8>,
    /// Errors that come only after the call was admitted.
    admitted: Vec<i32>,
}

impl Calls {
    /// One call.
    pub(crate) fn one(number: c_long, arguments: &[Word]) -> Self {
        Self::default().then(number, arguments)
    }

    /// A call whose first argument after `before` is this path.
    pub(crate) fn on(number: c_long, before: &[Word], path: &Path, after: &[Word]) -> Self {
        let mut calls = Self::default();
        let path = calls.text(path);
        calls.then(number, &[before, &[path], after].concat())
    }

    /// Bytes that a later call points to.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Word {
        let at = DATA + self.data.len() as u64;
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(16), 0);
        Word::At(at)
    }

    /// A text that ends with NUL.
    pub(crate) fn text(&mut self, text: impl AsRef<Path>) -> Word {
        let text = text.as_ref().as_os_str().as_encoded_bytes();
        self.bytes(&[text, b"\0"].concat())
    }

    /// Numbers of 64 bits.
    pub(crate) fn numbers(&mut self, numbers: &[u64]) -> Word {
        self.bytes(&numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())
    }

    /// One more call.
    pub(crate) fn then(mut self, number: c_long, arguments: &[Word]) -> Self {
        /// `mov` of 64 bits to rdi, rsi, rdx, r10, r8, r9; and of rbx to them.
        const SET: [[u8; 2]; 6] = [[0x48, 0xbf], [0x48, 0xbe], [0x48, 0xba], [0x49, 0xba], [0x49, 0xb8], [0x49, 0xb9]];
        const SET_LAST: [[u8; 3]; 6] = [
            [0x48, 0x89, 0xdf],
            [0x48, 0x89, 0xde],
            [0x48, 0x89, 0xda],
            [0x49, 0x89, 0xda],
            [0x49, 0x89, 0xd8],
            [0x49, 0x89, 0xd9],
        ];
        for place in 0..6 {
            match arguments.get(place).copied().unwrap_or(Word::Is(0)) {
                Word::Is(number) => self.set(SET[place], number),
                Word::At(offset) => self.set(SET[place], BASE + offset),
                Word::Last => self.code.extend(SET_LAST[place]),
            }
        }
        self.set([0x48, 0xb8], number.cast_unsigned());
        // syscall; mov rbx, rax; test rax, rax; jns over the end; neg eax; mov edi, eax; mov eax, exit_group; syscall
        self.code.extend([0x0f, 0x05, 0x48, 0x89, 0xc3, 0x48, 0x85, 0xc0, 0x79, 0x0b]);
        self.code.extend([0xf7, 0xd8, 0x89, 0xc7, 0xb8, 0xe7, 0x00, 0x00, 0x00, 0x0f, 0x05]);
        self
    }

    /// The same call by the numbers of 32-bit programs, without arguments.
    pub(crate) fn of_32_bits(number: u32) -> Self {
        let mut calls = Self::default();
        calls.code.push(0xb8);
        calls.code.extend(number.to_le_bytes());
        // int 0x80
        calls.code.extend([0xcd, 0x80]);
        calls
    }

    fn set(&mut self, instruction: [u8; 2], number: u64) {
        self.code.extend(instruction);
        self.code.extend(number.to_le_bytes());
    }

    /// These errors, too, come only after the call was admitted.
    pub(crate) fn admitted_by(mut self, errors: &[i32]) -> Self {
        self.admitted.extend(errors);
        self
    }

    /// Makes the calls, with this as standard input, by a program in this folder.
    fn make_by(&self, stdin: Stdio, folder: &Path) -> Outcome {
        if !cfg!(target_arch = "x86_64") {
            return Outcome::not_here("calls by their number are written for x86-64");
        }
        let status = match self.run(stdin, folder) {
            Ok(status) => status,
            Err(error) => return Outcome::NotHere(format!("its own program does not run: {error}")),
        };
        if let Some(signal) = status.signal() {
            return Outcome::Held(format!("ended by signal {signal}"));
        }
        let code = status.code().unwrap_or(-1);
        let error = io::Error::from_raw_os_error(code);
        match code {
            0 => Outcome::Through("it succeeded".to_owned()),
            code if self.admitted.contains(&code) => Outcome::Through(format!("admitted, then: {error}")),
            _ => Outcome::Held(error.to_string()),
        }
    }

    /// Makes the calls.
    pub(crate) fn make(&self) -> Outcome {
        self.make_with(Stdio::null())
    }

    /// Makes the calls, with this as standard input.
    pub(crate) fn make_with(&self, stdin: Stdio) -> Outcome {
        self.make_by(stdin, Path::new("."))
    }

    /// Makes the calls from outside, where this folder may be written.
    pub(crate) fn make_in(&self, folder: &Path) -> Outcome {
        self.make_by(Stdio::null(), folder)
    }

    fn run(&self, stdin: Stdio, folder: &Path) -> io::Result<ExitStatus> {
        let name = folder.join("calls");
        fs::remove_file(&name).ok();
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o700).open(&name)?;
        io::Write::write_all(&mut file, &self.program())?;
        drop(file);
        #[expect(clippy::disallowed_methods, reason = "the prisoner is no part of Hob")]
        let mut command = Command::new(name);
        command.arg0("calls").env_clear().stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).status()
    }

    /// An executable file of one segment, with the code, the data and room to write.
    fn program(&self) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
        // An executable for x86-64, which begins behind the headers; one program header of 56 bytes.
        file.extend([2, 0, 0x3e, 0, 1, 0, 0, 0]);
        for number in [BASE + HEADERS, 64, 0] {
            file.extend(number.to_le_bytes());
        }
        file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        // To be loaded, to be read, written and executed.
        file.extend([1, 0, 0, 0, 7, 0, 0, 0]);
        for number in [0, BASE, BASE, DATA + self.data.len() as u64, SIZE, 0x1000] {
            file.extend(number.to_le_bytes());
        }
        file.extend(&self.code);
        // xor edi, edi; mov eax, exit_group; syscall
        file.extend([0x31, 0xff, 0xb8, 0xe7, 0x00, 0x00, 0x00, 0x0f, 0x05]);
        assert!(file.len() as u64 <= DATA, "the calls are too long");
        file.resize(usize::try_from(DATA).unwrap(), 0);
        file.extend(&self.data);
        file
    }
}
