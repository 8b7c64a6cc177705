//! Questions and answers: `Caller`, `Pending`, and the receiver, `Questions`, which gets each as a `Question`.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use ysuite_shm::{Bytes, BytesCaller, CallError, Error, TryRecvError, TrySendError};

use crate::errors::{Empty, Full, Timeout, Unanswered, ended, until_closed};
use crate::sender::{Message, Sink, fits, outcome, send};
use crate::slot::{Slot, adopt, options};
use crate::wait::{Waiting, deadline, wait};

type Asked = ysuite_shm::Question<Bytes, Bytes>;

struct Asking {
    end: BytesCaller,
    /// The call that was asked just now.
    asked: Option<ysuite_shm::Pending>,
    /// Which caller it is: no other of this process has the number.
    number: u64,
}

impl AsFd for Asking {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Sink for Asking {
    fn attempt(&mut self, question: &[u8]) -> Option<Result<(), Error>> {
        match self.end.try_ask(question) {
            Ok(call) => {
                self.asked = Some(call);
                Some(Ok(()))
            }
            Err(TrySendError::Full(())) => None,
            Err(TrySendError::Ended((), error)) => Some(Err(error)),
        }
    }

    fn most(&self) -> usize {
        self.end.largest()
    }

    fn arm_for(&mut self, _: usize) -> bool {
        self.end.arm_to_ask()
    }
}

impl Asking {
    fn pending(&mut self) -> PyResult<Pending> {
        let call = self.asked.take().ok_or_else(|| ended(Error::Broken))?;
        Ok(Pending { call: Mutex::new(Some(call)), caller: self.number })
    }
}

/// A call and its caller, while somebody waits for the answer.
struct Awaited<'a> {
    end: &'a mut BytesCaller,
    /// `None`: it has ended.
    call: Option<ysuite_shm::Pending>,
}

impl AsFd for Awaited<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Awaited<'_> {
    fn look(&mut self) -> Option<Result<Bytes, CallError>> {
        match self.end.try_recv(self.call.take()?) {
            Ok(answer) => Some(Ok(answer)),
            Err(CallError::NotYet(call)) => {
                self.call = Some(call);
                None
            }
            Err(CallError::Unanswered) => Some(Err(CallError::Unanswered)),
            Err(CallError::Ended(error)) => Some(Err(CallError::Ended(error))),
        }
    }

    fn arm(&mut self) -> bool {
        self.end.arm(&self.call)
    }
}

fn answered(py: Python<'_>, outcome: Result<Bytes, CallError>) -> PyResult<Bound<'_, PyBytes>> {
    match outcome {
        Ok(answer) => Ok(PyBytes::new(py, &answer.0)),
        Err(CallError::Ended(error)) => Err(ended(error)),
        Err(_) => Err(Unanswered::new_err("the question was dropped")),
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Caller(Slot<Asking>);

/// A call whose answer `Caller.recv` receives. Who drops it gives the call up.
#[pyclass(frozen, module = "ysuite._ysuite")]
pub(crate) struct Pending {
    /// `None`: it has ended.
    call: Mutex<Option<ysuite_shm::Pending>>,
    caller: u64,
}

impl Caller {
    /// What `f` makes of a call; the call stays if that has not ended it.
    fn awaited<R>(&self, call: &Pending, f: impl FnOnce(&mut Awaited<'_>) -> PyResult<R>) -> PyResult<R> {
        self.0.with(|asking| {
            if call.caller != asking.number {
                return Err(PyValueError::new_err("a call of another caller"));
            }
            // Nobody holds it for long: who waits for it has the caller.
            let pending = call.call.lock().unwrap_or_else(PoisonError::into_inner).take();
            let pending = pending.ok_or_else(|| PyValueError::new_err("the answer of this call was received"))?;
            let mut awaited = Awaited { end: &mut asking.end, call: Some(pending) };
            let made = f(&mut awaited);
            *call.call.lock().unwrap_or_else(PoisonError::into_inner) = awaited.call.take();
            made
        })
    }
}

#[pymethods]
impl Caller {
    #[new]
    #[pyo3(signature = (fd, largest, *, calls = 64, messages = "", largest_region = 64 << 20, careful = false))]
    fn new(
        fd: i32,
        largest: usize,
        calls: usize,
        messages: &str,
        largest_region: usize,
        careful: bool,
    ) -> PyResult<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let options = options(messages, largest_region, careful, None).calls(calls);
        let end = options.bytes_caller(adopt(fd)?, largest).map_err(ended)?;
        // ORDERING: Relaxed; only the number counts.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self(Slot::new(Asking { end, asked: None, number })))
    }

    /// Asks, anything with a contiguous buffer of bytes, and waits for the answer; gives up after that time. Raises Unanswered,
    /// Ended or Timeout; ValueError for a question longer than `largest`.
    #[pyo3(signature = (question, timeout = None))]
    fn call<'py>(&self, question: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, object, until) = (question.py(), Message::new(question)?, deadline(timeout)?);
        self.0.with(|asking| {
            send(py, asking, &object, until).and_then(outcome)?;
            let mut awaited = Awaited { call: asking.asked.take(), end: &mut asking.end };
            let waiting = Waiting { attempt: Awaited::look, arm: Awaited::arm, is_free: true };
            let found = wait(py, &mut awaited, until, waiting)?;
            answered(py, found.ok_or_else(|| Timeout::new_err("timed out: there is no answer"))?)
        })
    }

    /// Asks, and goes on; waits while as many calls are under way as may be, or the receiver is not there. Raises Ended or, after
    /// that time, Timeout; ValueError for a question longer than `largest`.
    #[pyo3(signature = (question, timeout = None))]
    fn ask(&self, question: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<Pending> {
        let (object, until) = (Message::new(question)?, deadline(timeout)?);
        self.0.with(|asking| {
            send(question.py(), asking, &object, until).and_then(outcome)?;
            asking.pending()
        })
    }

    /// As `ask`, if there is nothing to wait for. Never waits. Raises Full or Ended.
    fn try_ask(&self, question: &Bound<'_, PyAny>) -> PyResult<Pending> {
        let object = Message::new(question)?;
        self.0.with(|asking| {
            fits(&object, asking.most())?;
            let asked = object.with(question.py(), |question| asking.attempt(question));
            asked.ok_or_else(|| Full::new_err("too many calls are under way"))?.map_err(ended)?;
            asking.pending()
        })
    }

    /// Receives the answer of a call; waits until it is there. Raises Unanswered, Ended or, after that time, Timeout.
    #[pyo3(signature = (call, timeout = None))]
    fn recv<'py>(&self, py: Python<'py>, call: &Pending, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        let until = deadline(timeout)?;
        self.awaited(call, |awaited| {
            let waiting = Waiting { attempt: Awaited::look, arm: Awaited::arm, is_free: true };
            let found = wait(py, awaited, until, waiting)?;
            answered(py, found.ok_or_else(|| Timeout::new_err("timed out: there is no answer"))?)
        })
    }

    /// Receives the answer of a call if it is there. Never waits. Raises Empty, Unanswered or Ended.
    fn try_recv<'py>(&self, py: Python<'py>, call: &Pending) -> PyResult<Bound<'py, PyBytes>> {
        self.awaited(call, |awaited| {
            answered(py, awaited.look().ok_or_else(|| Empty::new_err("there is no answer yet"))?)
        })
    }

    // USER CODE: the caller's iterator, which runs while the end is free.
    /// For a selector: if none of these calls has ended, `fileno()` becomes readable when one may have, or when the channel ends.
    /// False: there is something to be done now.
    fn arm(&self, calls: &Bound<'_, PyAny>) -> PyResult<bool> {
        let calls: Vec<Bound<'_, PyAny>> = PyIterator::from_object(calls)?.collect::<PyResult<_>>()?;
        let mut is_armed = true;
        for call in &calls {
            is_armed &= self.awaited(call.cast::<Pending>()?.get(), |awaited| Ok(awaited.arm()))?;
        }
        Ok(is_armed)
    }

    /// As `arm`, for who waits until it may ask.
    fn arm_to_ask(&self) -> PyResult<bool> {
        self.0.with(|asking| Ok(asking.end.arm_to_ask()))
    }

    /// Whether the receiver is gone; answers may still be there.
    fn is_disconnected(&self) -> PyResult<bool> {
        self.0.with(|asking| Ok(asking.end.is_disconnected()))
    }

    /// The most bytes that a question may have.
    #[getter]
    fn largest(&self) -> PyResult<usize> {
        self.0.with(|asking| Ok(asking.end.largest()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|asking| Ok(asking.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

struct Answering {
    end: ysuite_shm::Funnel<Asked>,
    /// A question that nobody has received yet.
    kept: Option<Asked>,
}

impl AsFd for Answering {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Answering {
    /// Whether there is a question, which is then in `kept`.
    fn look(&mut self) -> Option<Result<(), Error>> {
        if self.kept.is_none() {
            match self.end.try_recv() {
                Ok(question) => self.kept = Some(question),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Ended(error)) => return Some(Err(error)),
            }
        }
        Some(Ok(()))
    }

    fn arm(&mut self) -> bool {
        self.kept.is_none() && self.end.arm()
    }

    fn take(&mut self, py: Python<'_>) -> Option<Question> {
        let question = self.kept.take()?;
        let (message, largest) = (PyBytes::new(py, &question.0).unbind(), question.largest());
        Some(Question { slot: Slot::new(question), message, largest })
    }
}

#[pyclass(subclass, frozen, module = "ysuite._ysuite")]
pub(crate) struct Questions(Slot<Answering>);

#[pymethods]
impl Questions {
    #[new]
    #[pyo3(signature = (name, largest, *, calls = 64, messages = "", largest_region = 64 << 20, careful = false, allow = None))]
    fn new(
        name: Option<&str>,
        largest: usize,
        calls: usize,
        messages: &str,
        largest_region: usize,
        careful: bool,
        allow: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let options = options(messages, largest_region, careful, allow).calls(calls).largest_answer(largest);
        let end = match name {
            Some(name) => options.funnel(name),
            None => options.funnel_without_name(),
        };
        Ok(Self(Slot::new(Answering { end: end.map_err(ended)?, kept: None })))
    }

    /// A place for one more caller: its number, and a descriptor for the `Caller` of another process, which is the caller's.
    fn seat(&self) -> PyResult<(u64, i32)> {
        let (number, socket) = self.0.with(|answering| answering.end.seat().map_err(ended))?;
        Ok((number, socket.into_raw_fd()))
    }

    /// Receives a question of any caller; waits while there is none. Raises Timeout; Closed if all callers are gone and no other
    /// can come.
    #[pyo3(signature = (timeout = None))]
    fn recv(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Question> {
        let until = deadline(timeout)?;
        self.0.with(|answering| {
            // Each attempt asks the kernel, so it does not spin.
            let waiting = Waiting { attempt: Answering::look, arm: Answering::arm, is_free: false };
            let late = || Timeout::new_err("timed out: there is no question");
            wait(py, answering, until, waiting)?.ok_or_else(late)?.map_err(ended)?;
            answering.take(py).ok_or_else(late)
        })
    }

    /// Receives a question if there is one. Never waits. Raises Empty or Closed.
    fn try_recv(&self, py: Python<'_>) -> PyResult<Question> {
        let empty = || Empty::new_err("there is no question");
        self.0.with(|answering| {
            answering.look().ok_or_else(empty)?.map_err(ended)?;
            answering.take(py).ok_or_else(empty)
        })
    }

    /// The next caller that has ended: its number, and why. None if there is none. Receiving is what notices an end.
    fn next_ended(&self, py: Python<'_>) -> PyResult<Option<(u64, Py<PyAny>)>> {
        let end = self.0.with(|answering| Ok(answering.end.next_ended()))?;
        Ok(end.map(|end| (end.sender, ended(end.error).into_value(py).into_any())))
    }

    /// How many callers there are.
    #[getter]
    fn callers(&self) -> PyResult<usize> {
        self.0.with(|answering| Ok(answering.end.senders()))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Question>> {
        until_closed(py, self.recv(py, None))
    }

    /// For a selector: if there is no question, `fileno()` becomes readable when there is, or when a caller comes or goes.
    /// False: there is something to be done now.
    fn arm(&self) -> PyResult<bool> {
        self.0.with(|answering| Ok(answering.arm()))
    }

    /// The descriptor for a selector, after `arm`.
    fn fileno(&self) -> PyResult<i32> {
        self.0.with(|answering| Ok(answering.as_fd().as_raw_fd()))
    }

    fn close(&self) -> PyResult<()> {
        self.0.close()
    }
}

/// A question of a `Caller`, which waits for its answer. It may be answered at any time, by any thread. One that is released, or
/// forgotten, without one tells its caller so.
#[pyclass(frozen, module = "ysuite._ysuite")]
pub(crate) struct Question {
    slot: Slot<Asked>,
    /// What is asked.
    #[pyo3(get)]
    message: Py<PyBytes>,
    /// The most bytes that the answer may have.
    #[pyo3(get)]
    largest: usize,
}

#[pymethods]
impl Question {
    /// Answers it. Never waits. Raises ValueError for an answer longer than `largest`, or if it was answered or released.
    fn answer(&self, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        let object = Message::new(answer)?;
        fits(&object, self.largest)?;
        // An answer in a forked child would touch memory that is not there.
        self.slot.with(|_| Ok(())).map_err(|error| self.settled(answer.py(), error))?;
        let question = self.slot.place(|place| Ok(place.take()))?;
        let question = question.ok_or_else(|| PyRuntimeError::new_err("another thread has answered this question"))?;
        object.with(answer.py(), |answer| question.answer(answer));
        Ok(())
    }

    /// Drops it, unless it was answered.
    fn release(&self) -> PyResult<()> {
        self.slot.close()
    }

    fn __bytes__(&self, py: Python<'_>) -> Py<PyBytes> {
        self.message.clone_ref(py)
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.release()
    }
}

impl Question {
    /// What is raised for a question that nobody has any more.
    fn settled(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if error.is_instance_of::<PyValueError>(py) {
            PyValueError::new_err("this question was answered or released")
        } else {
            error
        }
    }
}
