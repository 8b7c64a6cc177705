//! The mechanisms that work with epoll alongside sockets.

use std::io;

use ybench_measure::registry;
use ybench_measure::transport::Transport;
use ybench_measure::transport::epoll_proof::proofs;
use ybench_measure::transport::kernel::sysv_mq::SysvMq;

#[test]
fn every_transport_says_of_itself_what_epoll_says() {
    let proofs = proofs();
    for proof in &proofs {
        let traits = &registry::named(proof.name).unwrap().traits;
        let expected = traits.works_with_epoll && (traits.available)().is_ok();
        assert_eq!(proof.works, expected, "{proof:?}");
    }
    let how = |name: &str| &proofs.iter().find(|proof| proof.name == name).unwrap().how;
    if (SysvMq::TRAITS.available)().is_ok() {
        assert!(how("sysv-mq").ends_with(&io::Error::from_raw_os_error(libc::EBADF).to_string()));
    }
    assert!(how("std-channel").contains("FUTEX_FD") && how("mpmc-futex").contains("FUTEX_FD"));
}
