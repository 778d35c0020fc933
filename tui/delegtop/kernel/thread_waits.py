"""What each thread of a process waits for, by the system call it is in, else by the place in the kernel.

The call is the better word, and names the descriptor. It is told only of processes that one may trace; the place
(`wchan`) of all that are one's own.
"""

import platform
import re
from enum import StrEnum
from typing import NamedTuple

from delegtop.kernel import proc_files


class Waiting(StrEnum):
    """In what a thread stands still."""

    CHILD = "child"
    READ = "read"
    WRITE = "write"
    OPEN = "open"
    LOCK = "lock"
    ACCEPT = "accept"
    CONNECT = "connect"
    RECEIVE = "receive"
    POLL = "poll"
    SLEEP = "sleep"
    THREAD = "thread"
    SIGNAL = "signal"
    QUEUE = "queue"
    DEVICE = "device"
    OTHER = "other"


class ThreadWait(NamedTuple):
    """One thread that stands still."""

    waiting: Waiting
    place: str = ""
    """In the kernel."""
    fd: int | None = None
    """The descriptor it waits at, if the call names one."""
    timed: bool | None = None
    """Whether it gives up after a time; None if that cannot be told."""

    @property
    def may_give_up(self) -> bool:
        """Whether it may go on without anybody, after a time: then it may do what others wait for."""
        return bool(self.timed) or (self.timed is None and self.waiting in (Waiting.THREAD, Waiting.POLL))


# The call, the number of the argument with its descriptor, and that of its time limit (a pointer, or milliseconds that
# are negative without one).
_CALLS: dict[str, tuple[Waiting, int | None, int | None]] = {
    "read": (Waiting.READ, 0, None),
    "readv": (Waiting.READ, 0, None),
    "write": (Waiting.WRITE, 0, None),
    "writev": (Waiting.WRITE, 0, None),
    "sendto": (Waiting.WRITE, 0, None),
    "sendmsg": (Waiting.WRITE, 0, None),
    "sendfile": (Waiting.WRITE, 0, None),
    "recvfrom": (Waiting.RECEIVE, 0, None),
    "recvmsg": (Waiting.RECEIVE, 0, None),
    "accept": (Waiting.ACCEPT, 0, None),
    "accept4": (Waiting.ACCEPT, 0, None),
    "connect": (Waiting.CONNECT, 0, None),
    "poll": (Waiting.POLL, None, 2),
    "ppoll": (Waiting.POLL, None, 2),
    "select": (Waiting.POLL, None, 4),
    "pselect6": (Waiting.POLL, None, 4),
    "epoll_wait": (Waiting.POLL, 0, 3),
    "epoll_pwait": (Waiting.POLL, 0, 3),
    "futex": (Waiting.THREAD, None, 3),
    "wait4": (Waiting.CHILD, None, None),
    "waitid": (Waiting.CHILD, None, None),
    "nanosleep": (Waiting.SLEEP, None, None),
    "clock_nanosleep": (Waiting.SLEEP, None, None),
    "flock": (Waiting.LOCK, 0, None),
    "fcntl": (Waiting.LOCK, 0, None),
    "open": (Waiting.OPEN, None, None),
    "openat": (Waiting.OPEN, None, None),
    "pause": (Waiting.SIGNAL, None, None),
    "rt_sigsuspend": (Waiting.SIGNAL, None, None),
    "rt_sigtimedwait": (Waiting.SIGNAL, None, 2),
    "msgrcv": (Waiting.QUEUE, None, None),
    "msgsnd": (Waiting.QUEUE, None, None),
    "semop": (Waiting.QUEUE, None, None),
    "semtimedop": (Waiting.QUEUE, None, 3),
    "mq_timedreceive": (Waiting.QUEUE, 0, 4),
    "mq_timedsend": (Waiting.QUEUE, 0, 4),
}
_IN_MILLISECONDS = frozenset({"poll", "epoll_wait", "epoll_pwait"})
_NUMBERS = {
    "x86_64": (
        "read:0 readv:19 write:1 writev:20 sendto:44 sendmsg:46 sendfile:40 "
        "recvfrom:45 recvmsg:47 accept:43 accept4:288 connect:42 poll:7 ppoll:271 "
        "select:23 pselect6:270 epoll_wait:232 epoll_pwait:281 futex:202 wait4:61 waitid:247 nanosleep:35 "
        "clock_nanosleep:230 flock:73 fcntl:72 open:2 openat:257 pause:34 rt_sigsuspend:130 rt_sigtimedwait:128 "
        "msgrcv:70 msgsnd:69 semop:65 semtimedop:220 mq_timedreceive:243 mq_timedsend:242"
    ),
    "aarch64": (
        "read:63 readv:65 write:64 writev:66 sendto:206 sendmsg:211 sendfile:71 "
        "recvfrom:207 recvmsg:212 accept:202 accept4:242 connect:203 ppoll:73 "
        "pselect6:72 epoll_pwait:22 futex:98 wait4:260 waitid:95 nanosleep:101 clock_nanosleep:115 flock:32 fcntl:25 "
        "openat:56 rt_sigsuspend:133 rt_sigtimedwait:137 msgrcv:188 msgsnd:189 semop:193 semtimedop:192 "
        "mq_timedreceive:183 mq_timedsend:182"
    ),
}
_NAMES = {
    int(number): name
    for name, _, number in (pair.partition(":") for pair in _NUMBERS.get(platform.machine(), "").split())
}
_INTERRUPTED = 219
"""`restart_syscall`: a sleep that a signal interrupted goes on."""
_PLACES = (
    (re.compile(r"do_wait\b|do_wait_|kernel_wait4|kernel_waitid"), Waiting.CHILD),
    (re.compile(r"wait_for_partner|fifo_open"), Waiting.OPEN),
    (re.compile(r"pipe_read|pipe_wait_readable|n_tty_read|inotify_read|eventfd_read|signalfd"), Waiting.READ),
    (re.compile(r"pipe_write|pipe_wait_writable|n_tty_write"), Waiting.WRITE),
    (re.compile(r"lock_inode_wait|fcntl_setlk|sys_flock"), Waiting.LOCK),
    (re.compile(r"inet_csk_accept|unix_accept"), Waiting.ACCEPT),
    (re.compile(r"wait_for_connect|stream_connect|unix_wait_for_peer"), Waiting.CONNECT),
    (re.compile(r"sk_wait_data|recvmsg|unix_stream_|skb_wait_for_more"), Waiting.RECEIVE),
    (re.compile(r"stream_wait_memory|sock_alloc_send"), Waiting.WRITE),
    (re.compile(r"wait_woken"), Waiting.READ),
    (re.compile(r"nanosleep"), Waiting.SLEEP),
    (re.compile(r"futex"), Waiting.THREAD),
    (re.compile(r"poll_schedule|do_select|do_poll|sys_poll|ep_poll|epoll_wait"), Waiting.POLL),
    (re.compile(r"sigsuspend|sigtimedwait|sys_pause"), Waiting.SIGNAL),
    (re.compile(r"do_msg|wq_sleep|do_mq|semtimedop"), Waiting.QUEUE),
)


def waits(pid: int) -> list[ThreadWait]:
    """What the threads of a process wait for, that of the first thread first; nothing of those that run."""
    threads = sorted(proc_files.numbers(pid, "task"), key=lambda thread: (thread != pid, thread))
    return [found for thread in threads if (found := _of_thread(pid, thread)) is not None]


def _of_thread(pid: int, thread: int) -> ThreadWait | None:
    place = proc_files.text(pid, "task", thread, "wchan", most=proc_files.RECORD)
    state = proc_files.data(pid, "task", thread, "stat", most=proc_files.RECORD).rpartition(b")")[2].split()[:1]
    if state in ([], [b"R"]):
        return None
    call = _by_call(pid, thread, place) if state != [b"D"] else None  # a file system that does not answer, not a pipe
    if call is not None:
        return call
    waiting = next((waiting for pattern, waiting in _PLACES if pattern.search(place)), None)
    if waiting is None:
        waiting = Waiting.DEVICE if state == [b"D"] else Waiting.OTHER
    return ThreadWait(waiting, place)


def _by_call(pid: int, thread: int, place: str) -> ThreadWait | None:
    fields = proc_files.text(pid, "task", thread, "syscall", most=proc_files.RECORD).split()
    if len(fields) < 7 or not fields[0].isdecimal():
        return None
    number = int(fields[0])
    if number == _INTERRUPTED and platform.machine() == "x86_64":
        return ThreadWait(Waiting.SLEEP, place, timed=True) if "nanosleep" in place else None
    name = _NAMES.get(number)
    if name is None:
        return None
    waiting, at_fd, at_limit = _CALLS[name]
    arguments = [int(word, 16) for word in fields[1:7]]
    fd = None if at_fd is None else arguments[at_fd] & 0xFFFFFFFF
    timed = None if at_limit is None else arguments[at_limit] != 0
    if name in _IN_MILLISECONDS and at_limit is not None:
        timed = arguments[at_limit] & 0x80000000 == 0
    return ThreadWait(waiting, place, fd, timed)
