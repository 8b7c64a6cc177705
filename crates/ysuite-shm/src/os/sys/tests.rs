//! Types and values beside those of the crate `libc`.

use super::*;

macro_rules! are_equal {
    ($($own:expr => $theirs:expr),+ $(,)?) => { $(assert_eq!($own as i128, $theirs as i128, stringify!($theirs));)+ };
}

#[test]
fn the_values_are_those_of_libc() {
    are_equal!(
        NUMBERS[0] => libc::SYS_membarrier, NUMBERS[1] => libc::SYS_memfd_create, NUMBERS[2] => libc::SYS_pidfd_open,
        CLOEXEC => libc::SOCK_CLOEXEC, CLOEXEC => libc::EFD_CLOEXEC, CLOEXEC => libc::EPOLL_CLOEXEC,
        NONBLOCK => libc::SOCK_NONBLOCK, NONBLOCK => libc::EFD_NONBLOCK,
        AF_UNIX => libc::AF_UNIX, SOCK_SEQPACKET => libc::SOCK_SEQPACKET, SOL_SOCKET => libc::SOL_SOCKET,
        SO_TYPE => libc::SO_TYPE, SO_DOMAIN => libc::SO_DOMAIN, SO_PEERCRED => libc::SO_PEERCRED,
        SCM_RIGHTS => libc::SCM_RIGHTS, MSG_CTRUNC => libc::MSG_CTRUNC, MSG_TRUNC => libc::MSG_TRUNC,
        MSG_DONTWAIT => libc::MSG_DONTWAIT, MSG_NOSIGNAL => libc::MSG_NOSIGNAL,
        MSG_CMSG_CLOEXEC => libc::MSG_CMSG_CLOEXEC,
        MFD_CLOEXEC => libc::MFD_CLOEXEC, MFD_ALLOW_SEALING => libc::MFD_ALLOW_SEALING,
        MFD_NOEXEC_SEAL => libc::MFD_NOEXEC_SEAL, F_ADD_SEALS => libc::F_ADD_SEALS, F_GET_SEALS => libc::F_GET_SEALS,
        RLIMIT_FSIZE => libc::RLIMIT_FSIZE, LOCK_EX => libc::LOCK_EX, LOCK_NB => libc::LOCK_NB,
        MAP_SHARED => libc::MAP_SHARED, MAP_PRIVATE => libc::MAP_PRIVATE, MAP_FIXED => libc::MAP_FIXED,
        MAP_ANONYMOUS => libc::MAP_ANONYMOUS, MAP_NORESERVE => libc::MAP_NORESERVE,
        MADV_DONTFORK => libc::MADV_DONTFORK, MADV_WIPEONFORK => libc::MADV_WIPEONFORK, POLLIN => libc::POLLIN,
        PROT_READ => libc::PROT_READ, PROT_WRITE => libc::PROT_WRITE,
        SEAL_SEAL => libc::F_SEAL_SEAL, SEAL_SHRINK => libc::F_SEAL_SHRINK, SEAL_GROW => libc::F_SEAL_GROW,
        SEAL_WRITE => libc::F_SEAL_WRITE, SEAL_FUTURE_WRITE => libc::F_SEAL_FUTURE_WRITE,
        EPOLLIN => libc::EPOLLIN, EPOLLERR => libc::EPOLLERR, EPOLLHUP => libc::EPOLLHUP,
        EPOLLRDHUP => libc::EPOLLRDHUP, EPOLLET => libc::EPOLLET as u32,
        Watch::Add => libc::EPOLL_CTL_ADD, Watch::Remove => libc::EPOLL_CTL_DEL,
        MEMBARRIER_QUERY => libc::MEMBARRIER_CMD_QUERY,
        MEMBARRIER_GLOBAL_EXPEDITED => libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED,
        MEMBARRIER_REGISTER_GLOBAL_EXPEDITED => libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
    );
    let errors = [
        (Errno::NOENT, libc::ENOENT),
        (Errno::INTR, libc::EINTR),
        (Errno::AGAIN, libc::EAGAIN),
        (Errno::AGAIN, libc::EWOULDBLOCK),
        (Errno::NOMEM, libc::ENOMEM),
        (Errno::INVAL, libc::EINVAL),
        (Errno::MFILE, libc::EMFILE),
        (Errno::FBIG, libc::EFBIG),
        (Errno::PIPE, libc::EPIPE),
        (Errno::ADDRINUSE, libc::EADDRINUSE),
        (Errno::CONNABORTED, libc::ECONNABORTED),
        (Errno::CONNRESET, libc::ECONNRESET),
        (Errno::NOBUFS, libc::ENOBUFS),
        (Errno::CONNREFUSED, libc::ECONNREFUSED),
    ];
    errors.into_iter().for_each(|(own, theirs)| assert_eq!(own.number(), theirs));
}

macro_rules! are_alike {
    ($($own:ident = $theirs:ident: $($field:ident = $its:ident),+;)+) => {
        $(
            assert_eq!(size_of::<$own>(), size_of::<libc::$theirs>(), stringify!($theirs));
            $(assert_eq!(offset_of!($own, $field), offset_of!(libc::$theirs, $its), stringify!($its));)+
        )+
    };
}

#[test]
fn the_types_are_those_of_libc() {
    are_alike! {
        PollFd = pollfd: fd = fd, events = events, found = revents;
        Event = epoll_event: flags = events, data = u64;
        Part = iovec: start = iov_base, bytes = iov_len;
        Header = msghdr: name = msg_name, name_bytes = msg_namelen, parts = msg_iov, control = msg_control,
            flags = msg_flags;
        Address = sockaddr_un: family = sun_family, path = sun_path;
        Limits = rlimit: current = rlim_cur, most = rlim_max;
    }
    assert_eq!(offset_of!(Rights, descriptors), size_of::<libc::cmsghdr>());
    assert_eq!(offset_of!(Rights, kind), offset_of!(libc::cmsghdr, cmsg_type));
    assert!(size_of::<[u64; 32]>() >= size_of::<libc::statfs>());
    assert_eq!((size_of::<Offset>(), offset_of!(libc::statfs, f_type)), (size_of::<libc::off_t>(), 0));
}
