//! Errors: ONE table with the number, C name, text and MATLAB identifier of each.

/// One row of [`ERRORS`].
#[derive(Clone, Copy, Debug)]
pub struct ErrorInfo {
    /// What went wrong.
    pub code: ErrorCode,
    /// Number in the C ABI.
    pub status: i32,
    /// Name in the C header.
    pub c_name: &'static str,
    /// One sentence; what [`mfma_status_string`](crate::capi) gives.
    pub text: &'static str,
    /// Identifier of the error in MATLAB and Octave.
    pub matlab_id: &'static str,
}

macro_rules! errors {
    ($($(#[$doc:meta])* $code:ident = $status:literal, $c_name:literal, $matlab_id:literal, $text:literal;)*) => {
        /// What went wrong. The numbers are those of the C ABI; new ones are only ever added.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum ErrorCode { $(#[doc = $text] $code = $status,)* }

        /// All errors.
        pub const ERRORS: &[ErrorInfo] = &[$(ErrorInfo {
            code: ErrorCode::$code,
            status: $status,
            c_name: $c_name,
            text: $text,
            matlab_id: $matlab_id,
        },)*];
    };
}

errors! {
    NullPointer = 1, "MFMA_ERR_NULL_POINTER", "mfma:arg:nullPointer", "a pointer that must not be NULL is NULL";
    InvalidSize = 2, "MFMA_ERR_INVALID_SIZE", "mfma:arg:size", "a size is negative or too large";
    InvalidLeadingDimension = 3, "MFMA_ERR_INVALID_LD", "mfma:arg:leadingDimension", "a leading dimension or stride is too small";
    UnknownArch = 4, "MFMA_ERR_UNKNOWN_ARCH", "mfma:arch:unknown", "no such architecture";
    UnknownFormat = 5, "MFMA_ERR_UNKNOWN_FORMAT", "mfma:format:unknown", "no such format";
    Unsupported = 6, "MFMA_ERR_UNSUPPORTED", "mfma:format:unsupported", "the unit does not have this combination of formats";
    UnknownInstruction = 7, "MFMA_ERR_UNKNOWN_INSTRUCTION", "mfma:arch:instruction", "no such instruction on this architecture";
    Overlap = 8, "MFMA_ERR_OVERLAP", "mfma:arg:overlap", "the result overlaps an input";
    InvalidArgument = 9, "MFMA_ERR_INVALID_ARGUMENT", "mfma:arg:value", "an argument has a value that is not allowed";
    InvalidParams = 10, "MFMA_ERR_INVALID_PARAMS", "mfma:params:value", "the parameters of a custom unit contradict each other or are out of range";
    OutOfMemory = 11, "MFMA_ERR_OUT_OF_MEMORY", "mfma:system:memory", "not enough memory";
    Cancelled = 12, "MFMA_ERR_CANCELLED", "mfma:system:cancelled", "the caller cancelled the computation";
    Internal = 13, "MFMA_ERR_INTERNAL", "mfma:system:internal", "internal error; please report it";
    Io = 14, "MFMA_ERR_IO", "mfma:file:io", "a file cannot be read or written";
    Malformed = 15, "MFMA_ERR_MALFORMED", "mfma:file:malformed", "a file does not have the form that it should have";
}

impl ErrorCode {
    /// The row of [`ERRORS`] for this code.
    pub fn info(self) -> &'static ErrorInfo {
        &ERRORS[self as usize - 1]
    }
}

/// An error: its code, and a message that names the argument and says what is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    code: ErrorCode,
    message: String,
}

impl Error {
    /// An error with this code and message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
        }
    }

    /// The code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
